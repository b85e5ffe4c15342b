import { MinHeap } from "./min_heap.js";

// Byte-pair encoding: a word's characters, joined pair by pair in the order that training found.

const WORD_START = "▁";
// Of words that begin with ▁, each punctuation mark stands alone.
const PIECE = /[!-/:-@[-`{-~]|\p{P}|[^!-/:-@[-`{-~\p{P}]+/gu;

export class BytePairEncoder {
  /** @param {string[]} merges pairs of pieces with a space between, first to last */
  constructor(merges) {
    this.ranks = new Map(merges.map((pair, rank) => [pair, rank]));
  }

  /** The pieces of a normalized text. */
  encode(text) {
    if (!text) return [];
    const words = text.split(" ").map((word) => WORD_START + word);
    return words.flatMap((word) => word.match(PIECE)).flatMap((piece) => this.merge([...piece]));
  }

  /** Join the pair that training found first, of equals the leftmost, until no pair is known. */
  merge(pieces) {
    const [before, after] = [-1, 1].map((step) => pieces.map((_, n) => n + step)); // of what is left
    const pairs = new MinHeap((a, b) => a.rank - b.rank || a.place - b.place);
    const pairAt = (place) => after[place] < pieces.length && `${pieces[place]} ${pieces[after[place]]}`;
    const offer = (place) => {
      const pair = pairAt(place);
      if (this.ranks.has(pair)) pairs.push({ rank: this.ranks.get(pair), place, pair });
    };
    for (const place of pieces.keys()) offer(place);
    while (pairs.size) {
      const { place, pair } = pairs.pop();
      if (pieces[place] === undefined || pairAt(place) !== pair) continue; // one of the two was joined since
      const next = after[place];
      pieces[place] += pieces[next];
      pieces[next] = undefined;
      after[place] = after[next];
      before[after[next]] = place;
      offer(place);
      if (before[place] >= 0) offer(before[place]);
    }
    return pieces.filter((piece) => piece !== undefined);
  }
}
