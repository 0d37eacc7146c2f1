// Types as values: what `type(x)` gives and `int`, `string`, … name.

export class CelType {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}
