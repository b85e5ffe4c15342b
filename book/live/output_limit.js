// Limits how much of a cell's output is shown at once. A browser stands still over a page of a million
// characters, so the rest waits for its button; a loop without end would fill the memory, so it waits
// up to a limit. Outputs are those of a notebook: {output_type, …}.
const MAX_SHOWN = 100_000; // characters
const MAX_KEPT = 1_000_000;
const MAX_ERROR = 10_000; // of an error, which is shown in any case
const SIZE_PER_OUTPUT = 200; // what an output counts beside its text: a thousand figures are many, too

const OUTPUT_TYPES = ["stream", "display_data", "execute_result", "error"];
const isText = (kind) => kind.startsWith("text/");

export class OutputLimit {
  // `onChange({ waits, flood })`: whether a rest waits, and whether what came was more than is kept.
  constructor(onChange) {
    this.onChange = onChange;
  }

  restart(model) {
    Object.assign(this, { model, room: MAX_SHOWN, kept: MAX_KEPT, waiting: [], error: null, flood: false });
    this.#notify();
  }

  // Whether a message is shown. One that is too long is cut, and its rest waits.
  admits({ header: { msg_type: type }, content }) {
    if (type === "update_display_data") return sizeOf(content) <= MAX_SHOWN;
    if (type === "clear_output") this.restart(this.model);
    if (!OUTPUT_TYPES.includes(type)) return true;
    const room = this.waiting.length ? 0 : this.room;
    const [head, rest] = cut(content, type === "error" ? Math.max(room, MAX_ERROR) : room);
    if (type === "error") this.error = rest || this.waiting.length ? { output_type: type, ...content } : null;
    else if (rest) this.#keepForLater({ output_type: type, ...rest });
    this.#notify();
    if (!head) return false;
    this.room -= sizeOf(head);
    Object.assign(content, head);
    return true;
  }

  #keepForLater(output) {
    const [head, rest] = cut(output, this.kept);
    this.flood ||= Boolean(rest);
    this.kept = this.flood ? 0 : this.kept - sizeOf(head);
    if (head) this.waiting.push(head);
  }

  // An error stands last, as it came.
  showRest() {
    const shown = this.model.toJSON();
    if (this.error) shown.splice(-1, 1, ...this.waiting, cut(this.error, MAX_KEPT)[0]);
    else shown.push(...this.waiting);
    Object.assign(this, { room: 0, waiting: [], error: null });
    this.model.fromJSON(shown);
    this.#notify();
  }

  #notify() {
    this.onChange({ waits: this.waiting.length > 0 || this.error !== null, flood: this.flood });
  }
}

function textOf({ text, traceback, data = {} }) {
  if (traceback) return traceback.join("\n");
  const texts = Object.keys(data).filter(isText).map((kind) => [data[kind]].flat().join(""));
  return text ?? texts.reduce((longest, one) => (one.length > longest.length ? one : longest), "");
}

const sizeOf = (content) => textOf(content).length + (content.text === undefined ? SIZE_PER_OUTPUT : 0);

// What of an output fits, and the rest; null for nothing. Plain text can be cut, a table cannot.
function cut(output, room) {
  if (sizeOf(output) <= room) return [output, null];
  const { text, traceback, data } = output;
  const plain = data && Object.keys(data).every((kind) => kind === "text/plain");
  const fits = room - (text === undefined ? SIZE_PER_OUTPUT : 0);
  if (fits <= 0 || (data && !plain)) return [null, output];
  const whole = textOf(output);
  const head = whole.slice(0, fits).replace(/\x1b[^m]{0,20}$/, ""); // no colour cut in two
  const withText = (part) => {
    if (traceback) return { ...output, traceback: [part] };
    return { ...output, ...(plain ? { data: { "text/plain": part } } : { text: part }) };
  };
  return [withText(head), withText(whole.slice(head.length))];
}
