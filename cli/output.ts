// What commands print. Names and texts of users are on the way to a terminal: nothing in them may steer it. Data stays
// what it is: JSON and YAML show unsafe characters as their own escapes.
import { isScalar, Document, visit } from 'yaml'
import { printable, printableJson, printableLines } from '#api/printable.ts'

/** To standard output. Line ends are those of the command: texts of users went through `printable`. */
export function printLine(text: string): void {
  process.stdout.write(`${printableLines(text)}\n`)
}

/** To standard error, as `printLine`. */
export function printError(text: string): void {
  process.stderr.write(`${printableLines(text)}\n`)
}

/** What a failed call says, in one line. */
export function reasonText(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error))
}

/** With a newline at the end. */
export function dataText(value: unknown, output: 'json' | 'yaml'): string {
  return output === 'json' ? `${printableJson(JSON.stringify(value, null, 2))}\n` : yamlText(value)
}

export function yamlText(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, node) {
      // Only a text between double quotes has escapes.
      if (isScalar(node) && typeof node.value === 'string' && printableLines(node.value) !== node.value) {
        node.type = 'QUOTE_DOUBLE'
      }
    },
  })
  return printableJson(document.toString({ lineWidth: 0 }))
}
