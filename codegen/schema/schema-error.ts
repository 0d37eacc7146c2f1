// A mistake in a schema file: says which file and where in it. Thrown by the generators, printed by main.

export class SchemaError extends Error {
  /** @param path inside the file, `properties.foo.items`; empty for the file itself */
  constructor(file: string, path: readonly string[], message: string) {
    super(`${file}${path.length === 0 ? '' : ` at ${path.join('.')}`}: ${message}`)
    this.name = 'SchemaError'
  }
}
