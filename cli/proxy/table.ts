// Text tables of the command: columns as wide as their widest cell, two spaces between them. Pure.

import { printable } from '#api/printable.ts'

/** With a newline at the end. Names of objects reach the terminal, so control characters in them are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(printable))
  const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)))
  const text = lines.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${text.join('\n')}\n`
}
