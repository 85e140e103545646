'use strict';

// Script takes the place of chance and of the clock, and keeps what a client waited for.
class Script {
  delays = []; // in ms
  #numbers = [];
  #then = 0;

  // install changes both for good. Of all that the calls here run, only the retry code of the SDKs draws from Math.random.
  // The clock stands still, because the SDKs read it twice to find out how far away a hint is.
  install() {
    const now = Date.now();
    Date.now = () => now;
    Math.random = () => (this.#numbers.length > 0 ? this.#numbers.shift() : this.#then);
  }

  begin(numbers, then) {
    this.#numbers = [...numbers];
    this.#then = then;
  }

  // record keeps a delay. A timer takes what is no number for 1 ms.
  record(ms) {
    this.delays.push(Number.isNaN(ms) ? 1 : ms);
  }
}

module.exports = { Script };
