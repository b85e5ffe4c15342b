import { DEFAULTS, methodOf } from "./settings.js";
import { translateInSteps } from "./translate_in_steps.js";

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
    Object.assign(this, { draw, settings: { ...DEFAULTS, view }, outcome: null, ids: null, runs: 0, isRunning: false });
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

  /** Whether the answer that is shown is to another sentence than the one that was asked last. */
  get isStale() {
    return this.outcome !== null && this.outcome.ids !== this.asked;
  }

  /** End the run that is under way. */
  stop() {
    this.runs++;
    this.isRunning = false;
  }

  /**
   * End the run at a reader's wish, and take back settings under which nothing was found yet.
   * @returns {number} tokens of the answer so far, 0 where there is none
   */
  giveUp() {
    this.stop();
    const begun = this.outcome !== this.before;
    if (!begun) this.settings = this.settingsBefore();
    this.draw();
    return begun ? this.outcome.steps.length : 0;
  }

  /**
   * Translate a text, word by word; what is under way goes on if the model cannot take it.
   * @returns {Promise<boolean>} as `run`
   * @throws {InputError} the model cannot take it
   */
  async translate(text) {
    this.asked = null;
    this.asked = this.ids = this.translator.encode(text);
    this.readInstead = this.translator.source.readInstead(text);
    this.settings = { ...this.settings, word: DEFAULTS.word };
    return this.run(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  /** The settings of the answer that is shown, under the view that is shown. */
  settingsBefore() {
    const { view, word, head, part } = this.settings;
    if (!this.outcome) return { ...this.settings, method: DEFAULTS.method };
    const { settings } = this.outcome;
    return { ...settings, method: methodOf(settings), view, word, head, part };
  }

  /**
   * Answer under the settings; a new run ends the one before it.
   * @param {boolean} slowly a pause after each word, and a drawing
   * @returns {Promise<boolean>} whether it came to its end
   */
  async run(slowly) {
    const run = ++this.runs;
    Object.assign(this, { before: this.outcome, isRunning: true });
    try {
      return await this.grow(run, slowly);
    } finally {
      if (run === this.runs) this.isRunning = false;
    }
  }

  async grow(run, slowly) {
    let start = performance.now();
    for (const outcome of translateInSteps(this.engine, this.translator, this.ids, this.settings)) {
      if (outcome) this.outcome = outcome;
      if (outcome && slowly) this.draw();
      if (outcome && slowly && !outcome.done) await sleep(PAUSE);
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
