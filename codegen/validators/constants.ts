// Collects the constants of a generated module of tables and prints them. Names come from the schema, never from the
// order, and equal values share a constant: a change of one field changes the lines of that field.

const LINE_LENGTH_MAX = 120
const STEP = '  '

/** Text, numbers, booleans, null, lists and records of these, and references to constants. */
export type Value = unknown

/** Stands in a value for another constant of the module. */
export class Reference {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

export class Constants {
  readonly #type: string
  readonly #names: Set<string>
  readonly #references = new Map<string, Reference>()
  readonly #lines: string[] = []

  /** @param type the type of every constant, imported by the module */
  constructor(type: string) {
    this.#type = type
    this.#names = new Set([type])
  }

  /** @param wanted the names to choose from, the best first; a number makes the last one unique */
  add(wanted: readonly string[], value: Value): Reference {
    const text = print(value, { indent: '', used: `const ${wanted.at(-1) ?? ''}: ${this.#type} = `.length })
    const known = this.#references.get(text)
    if (known !== undefined) return known
    const reference = new Reference(this.#freeName(wanted))
    this.#names.add(reference.name)
    this.#references.set(text, reference)
    this.#lines.push(`const ${reference.name}: ${this.#type} = ${text}`)
    return reference
  }

  export(name: string, value: Value): void {
    const text = print(value, { indent: '', used: `export const ${name}: ${this.#type} = `.length })
    this.#lines.push(`export const ${name}: ${this.#type} = ${text}`)
  }

  /** Constants stand before those that use them. */
  lines(): readonly string[] {
    return this.#lines
  }

  #freeName(wanted: readonly string[]): string {
    const free = wanted.find((name) => !this.#names.has(name))
    if (free !== undefined) return free
    for (let number = 2; ; number += 1) {
      const name = `${wanted.at(-1) ?? 'Value'}${number}`
      if (!this.#names.has(name)) return name
    }
  }
}

interface LinePlace {
  readonly indent: string
  /** Characters of the line that stand before the value. */
  readonly used: number
}

function print(value: Value, { indent, used }: LinePlace): string {
  const inline = printInline(value)
  if (used + inline.length < LINE_LENGTH_MAX) return inline
  const deeper = indent + STEP
  if (typeof value === 'string') {
    const parts = partsOf(value, LINE_LENGTH_MAX - deeper.length - '"" +,'.length)
    return `\n${parts.map((part) => deeper + quote(part)).join(' +\n')}`
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => `${deeper}${print(item, { indent: deeper, used: deeper.length + 1 })},\n`)
    return `[\n${items.join('')}${indent}]`
  }
  const fields = entriesOf(value).map(([key, child]) => {
    const head = `${deeper}${keyText(key)}:`
    const text = print(child, { indent: deeper, used: head.length + 2 })
    return `${head}${text.startsWith('\n') ? '' : ' '}${text},\n`
  })
  return `{\n${fields.join('')}${indent}}`
}

function printInline(value: Value): string {
  if (value instanceof Reference) return value.name
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(printInline).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = entriesOf(value).map(([key, child]) => `${keyText(key)}: ${printInline(child)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

function entriesOf(value: Value): [string, unknown][] {
  return Object.entries(Object(value) as Readonly<Record<string, unknown>>).filter(([, child]) => child !== undefined)
}

function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key)
}

function quote(text: string): string {
  const json = JSON.stringify(text)
  if (text.includes("'")) return json
  return `'${json.slice(1, -1).replaceAll('\\"', '"')}'`
}

/** Pieces of a long text, cut after spaces where there are any. */
function partsOf(text: string, length: number): string[] {
  // Escapes make a printed part longer than the text it stands for.
  const room = Math.floor(length * 0.9)
  const parts: string[] = []
  let rest = text
  while (rest.length > room) {
    const space = rest.lastIndexOf(' ', room - 1)
    const cut = space > room / 2 ? space + 1 : room
    parts.push(rest.slice(0, cut))
    rest = rest.slice(cut)
  }
  return [...parts, rest]
}
