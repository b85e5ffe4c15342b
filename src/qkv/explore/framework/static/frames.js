// Deserializes the panels of one grid point from the bytes that frames.py wrote.
const BYTES = { f2: 2, f4: 4, u2: 2 };

function float16(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function array(bytes, offset, { shape, dtype }) {
  const length = shape.reduce((a, b) => a * b, 1);
  const read = {
    f2: (at) => float16(bytes.getUint16(at, true)),
    f4: (at) => bytes.getFloat32(at, true),
    u2: (at) => bytes.getUint16(at, true),
  }[dtype];
  return Float32Array.from({ length }, (_, i) => read(offset + i * BYTES[dtype]));
}

// The last arrays of some panels are places of texts in the layout's list of strings.
function withStrings(layout, spec, arrays) {
  const names = spec.strings ?? [];
  const numbers = arrays.slice(0, arrays.length - names.length);
  const lists = arrays.slice(numbers.length).map((places) => [...places].map((k) => layout.strings[k]));
  return { ...spec, ...Object.fromEntries(names.map((name, i) => [name, lists[i]])), arrays: numbers };
}

// A DataView over whatever the widget manager hands out for a bytes trait.
export function dataView(bytes) {
  return new DataView(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength);
}

export function panelsAt(layout, bytes, point) {
  return layout.points[point].map(([index, ...offsets]) => {
    const spec = layout.specs[index];
    const arrays = offsets.map((offset, i) => array(bytes, offset, spec.arrays[i]));
    return { ...withStrings(layout, spec, arrays), shape: spec.arrays?.[0]?.shape, range: layout.ranges[spec.name] };
  });
}

// Grid order: the last axis moves fastest.
export function pointOf(axes, places) {
  return axes.reduce((point, axis, i) => point * axis.values.length + places[i], 0);
}
