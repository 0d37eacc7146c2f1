// Text tables of the command: columns as wide as their widest cell, two spaces between them. Pure.

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** With a newline at the end; names of objects reach the terminal, so nothing in them may steer it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll(CONTROL, '?')))
  const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)))
  const text = lines.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${text.join('\n')}\n`
}
