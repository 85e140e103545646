'use strict';

// Script replaces the randomness and the clock, and records a client's delays.
class Script {
  delays = []; // in ms
  #numbers = [];
  #then = 0;

  // install permanently replaces Math.random and the clock. In the calls made here, only the retry code uses
  // Math.random. The clock stands still, because the SDKs read it twice to compute the time until a hint.
  install() {
    const now = Date.now();
    Date.now = () => now;
    Math.random = () => (this.#numbers.length > 0 ? this.#numbers.shift() : this.#then);
  }

  begin(numbers, then) {
    this.#numbers = [...numbers];
    this.#then = then;
  }

  // record treats NaN as 1 ms, as timers do.
  record(ms) {
    this.delays.push(Number.isNaN(ms) ? 1 : ms);
  }
}

module.exports = { Script };
