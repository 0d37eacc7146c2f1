// Text tables of the command: columns as wide as their widest cell, two spaces between them, numbers at the right.
import stringWidth from 'string-width'
import { printable } from '#api/printable.ts'

const NUMBER = /^[\d.,]+(?: ?ms| ?%)?$/

/** With a newline at the end. Names of objects reach the terminal, so control characters in them are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(printable))
  const columns = head.map((_, column) => {
    const cells = rows.map((row) => row[column] ?? '').filter((cell) => cell !== '')
    return {
      width: Math.max(...lines.map((row) => stringWidth(row[column] ?? ''))),
      isNumeric: cells.length > 0 && cells.every((cell) => NUMBER.test(cell)),
    }
  })
  const text = lines.map((row) =>
    columns
      .map(({ width, isNumeric }, column) => {
        const cell = row[column] ?? ''
        const space = ' '.repeat(width - stringWidth(cell))
        return isNumeric ? space + cell : cell + space
      })
      .join('  ')
      .trimEnd(),
  )
  return `${text.join('\n')}\n`
}
