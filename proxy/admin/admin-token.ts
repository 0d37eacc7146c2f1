// The token of the admin server: random at each start, in a file that only the user of the process can read. Requests
// that a route leads to the server, and those of other containers of the pod, do not have it.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { adminTokenFile } from '#api/admin/token-file.ts'

const TOKEN_BYTES = 32
const SCHEME = /^Bearer +(\S+)$/i

export class AdminToken {
  readonly #value = randomBytes(TOKEN_BYTES).toString('base64url')
  readonly #digest = digestOf(this.#value)
  #file: string | undefined = undefined

  /** `authorization`: the header field. Takes as long for a wrong token as for the right one. */
  accepts(authorization: string | undefined): boolean {
    const token = SCHEME.exec(authorization ?? '')?.[1]
    return token !== undefined && timingSafeEqual(digestOf(token), this.#digest)
  }

  /** For people who have none. `port`: of the admin server. */
  refusal(port: number): string {
    return (
      'the admin server needs its token: send `Authorization: Bearer <token>`. ' +
      `The token is in ${adminTokenFile(port)} inside the pod; \`gw proxy token\` prints it there, and \`gw proxy\` reads it from GW_ADMIN_TOKEN\n`
    )
  }

  /** @throws {Error} of the file system; then no client has the token. */
  write(port: number): void {
    const file = adminTokenFile(port)
    // Always a new file: an existing file may belong to another user, or be a link.
    rmSync(file, { force: true })
    writeFileSync(file, `${this.#value}\n`, { flag: 'wx', mode: 0o600 })
    this.#file = file
  }

  /** A later process may have left its own there. */
  remove(): void {
    if (this.#file === undefined) return
    try {
      if (readFileSync(this.#file, 'utf8').trim() === this.#value) rmSync(this.#file, { force: true })
    } catch {
      // It is gone, which is all that is wanted.
    }
    this.#file = undefined
  }
}

/**
 * A proxy that was killed leaves its file: `gw proxy token` would print it for a proxy that requires no token.
 *
 * @throws {Error} of the file system
 */
export function removeLeftToken(port: number): void {
  rmSync(adminTokenFile(port), { force: true })
}

/** Of equal length, whatever was sent. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
