// A binary heap: what is least comes first, however much there is.

export class MinHeap {
  /** @param {(a: any, b: any) => number} compare as `Array.sort` takes it */
  constructor(compare) {
    Object.assign(this, { compare, items: [] });
  }

  get size() {
    return this.items.length;
  }

  push(item) {
    const { items, compare } = this;
    let place = items.length;
    for (let above; place && compare(item, items[(above = (place - 1) >> 1)]) < 0; place = above)
      items[place] = items[above];
    items[place] = item;
  }

  /** Take the least item out. */
  pop() {
    const { items, compare } = this;
    const [least, last] = [items[0], items.pop()];
    if (!items.length) return least;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below + 1 < items.length && compare(items[below + 1], items[below]) < 0) below++;
      if (below >= items.length || compare(last, items[below]) <= 0) break;
      items[place] = items[below];
      place = below;
    }
    items[place] = last;
    return least;
  }
}
