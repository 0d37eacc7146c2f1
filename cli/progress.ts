// Reports at a terminal what a command waits for, once it takes more than a second.
import { printable } from '#api/printable.ts'
import { printError } from './output.ts'

const SILENT_MS = 1000

/** `action`: what the command does, such as `reading the configuration of web-1.shop`. */
export async function withProgress<T>(
  action: string,
  result: Promise<T>,
  stream: { readonly isTTY?: boolean } = process.stderr,
): Promise<T> {
  if (stream.isTTY !== true) return result
  const timer = setTimeout(() => printError(printable(`${action} …`)), SILENT_MS)
  return result.finally(() => clearTimeout(timer))
}
