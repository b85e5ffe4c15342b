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

  /** Join the pair that training found first, wherever it stands, until no pair is known. */
  merge(pieces) {
    for (;;) {
      const ranks = pieces.slice(1).map((piece, n) => this.ranks.get(`${pieces[n]} ${piece}`) ?? Infinity);
      const first = ranks.reduce((a, b) => Math.min(a, b), Infinity);
      if (first === Infinity) return pieces;
      const place = ranks.indexOf(first);
      pieces.splice(place, 2, pieces[place] + pieces[place + 1]);
    }
  }
}
