// The output of commands. Names and texts of users reach a terminal, so control characters in them are escaped. Data
// keeps its value: JSON and YAML write such characters with their own escapes.
import { isScalar, Document, visit } from 'yaml'
import { printable, printableJson, printableLines } from '#api/printable.ts'

/** Prints to standard output. Only the command writes line ends: texts of users went through `printable`. */
export function printLine(text: string): void {
  process.stdout.write(`${printableLines(text)}\n`)
}

/** Prints to standard error, as `printLine`. */
export function printError(text: string): void {
  process.stderr.write(`${printableLines(text)}\n`)
}

/** The message of a failed call, in one line. */
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
      // Only double-quoted text has escapes.
      if (isScalar(node) && typeof node.value === 'string' && printableLines(node.value) !== node.value) {
        node.type = 'QUOTE_DOUBLE'
      }
    },
  })
  return printableJson(document.toString({ lineWidth: 0 }))
}
