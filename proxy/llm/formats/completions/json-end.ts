// Finds the end of a JSON object in text that comes in pieces, without keeping the text.
export class JsonEnd {
  #depth = 0
  #isInString = false
  #isEscaped = false
  #isComplete = false

  /** The object was closed. Of invalid JSON it may say anything. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  push(text: string): void {
    for (const char of text) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (char === '"') this.#isInString = !this.#isInString
      else if (this.#isInString) this.#isEscaped = char === '\\'
      else this.#structure(char)
    }
  }

  #structure(char: string): void {
    if (char === '{' || char === '[') this.#depth++
    else if (char === '}' || char === ']') {
      this.#depth--
      if (this.#depth === 0) this.#isComplete = true
    }
  }
}
