'use strict';

// Script replaces the randomness and the clock, and records the delays of a client.
class Script {
  delays = []; // in ms
  #numbers = [];
  #then = 0;

  // install replaces both permanently. In the calls here, only the retry code of the SDKs uses Math.random.
// The clock stands still, because the SDKs read it twice to compute the time until a hint.
  install() {
    const now = Date.now();
    Date.now = () => now;
    Math.random = () => (this.#numbers.length > 0 ? this.#numbers.shift() : this.#then);
  }

  begin(numbers, then) {
    this.#numbers = [...numbers];
    this.#then = then;
  }

  // record records a delay. A timer treats NaN as 1 ms.
  record(ms) {
    this.delays.push(Number.isNaN(ms) ? 1 : ms);
  }
}

module.exports = { Script };
