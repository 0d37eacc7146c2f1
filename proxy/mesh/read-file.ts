// Reads small files that Kubernetes mounts: the projected token and the root certificates. Never more than a limit.
import { open } from 'node:fs/promises'
import { messageOf } from '../exchange/diagnosis.ts'

/** @throws {Error} naming the path, never the content. */
export async function readSmallFile(path: string, bytesMax: number): Promise<string> {
  try {
    const file = await open(path, 'r')
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(bytesMax + 1), 0, bytesMax + 1, 0)
      if (bytesRead > bytesMax) throw new Error(`larger than ${bytesMax} bytes`)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const reason = isMissing ? 'the file does not exist' : messageOf(error)
    throw new Error(`${path}: ${reason}`, { cause: error })
  }
}
