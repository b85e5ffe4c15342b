import { answer, DEFAULTS } from "./answer.js";

// What one box holds: a translator, its sentence, the settings, and the answer so far.

const PAUSE = 150; // ms a word, for the eye
const BREATH = 50; // ms of computing until the page may do something else

const sleep = (time) => new Promise((wake) => setTimeout(wake, time));

export class Session {
  /**
   * @param {string} view that it opens on
   * @param {() => void} draw called when there is more to show
   */
  constructor(view, draw) {
    Object.assign(this, { draw, settings: { ...DEFAULTS, view }, outcome: null, ids: null, runs: 0 });
  }

  /** Take a translator; what another said is forgotten, and so is what was set for its parts. */
  use(engine, translator) {
    this.stop();
    const { word, head, part, switchedOff, positions } = DEFAULTS;
    const settings = { ...this.settings, word, head, part, switchedOff, positions };
    Object.assign(this, { engine, translator, settings, outcome: null, ids: null });
  }

  /** Set all heads and positions on; `run` then answers again. */
  switchAllOn() {
    const { switchedOff, positions } = DEFAULTS;
    this.settings = { ...this.settings, switchedOff, positions };
  }

  /** End the run that is under way. */
  stop() {
    this.runs++;
  }

  /**
   * Translate a text, word by word; what is under way goes on if the model cannot take it.
   * @returns {Promise<boolean>} as `run`
   * @throws {InputError} the model cannot take it
   */
  async translate(text) {
    this.ids = this.translator.encode(text);
    this.settings = { ...this.settings, word: DEFAULTS.word };
    return this.run(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  /**
   * Answer under the settings; a new run ends the one before it.
   * @param {boolean} slowly a pause after each word, and a drawing
   * @returns {Promise<boolean>} whether it came to its end
   */
  async run(slowly) {
    const run = ++this.runs;
    let start = performance.now();
    for (const outcome of answer(this.engine, this.translator, this.ids, this.settings)) {
      this.outcome = outcome;
      if (slowly) this.draw();
      if (slowly && !outcome.done) await sleep(PAUSE);
      else if (performance.now() - start > BREATH) {
        await sleep(0);
        start = performance.now();
      }
      if (run !== this.runs) return false;
    }
    this.draw();
    return true;
  }
}
