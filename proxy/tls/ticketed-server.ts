// The tls.Server of one listener, and a second one for clients that bring a ticket of the hour before: node knows one
// ticket key for each server. A ClientHello tells by the name of the key which of them can open its ticket.
import { Buffer } from 'node:buffer'
import { hkdfSync } from 'node:crypto'
import tls from 'node:tls'
import { fingerprint, issuesTickets, serverOptions, type TlsSettings } from './settings.ts'
import type { TicketSecrets } from './ticket-secrets.ts'

/** As OpenSSL wants them: name, secret of the signature, secret of the cipher. */
const KEY_BYTES = 48
export const TICKET_NAME_BYTES = 16

export interface TicketedServerParts {
  /** undefined: each server has a key of its own. */
  readonly tickets: TicketSecrets | undefined
  /** For each server that is made. */
  readonly listen: (server: tls.Server) => void
}

export class TicketedServer {
  readonly #settings: TlsSettings
  readonly #parts: TicketedServerParts
  readonly #server: tls.Server
  #previousKey: Buffer | undefined = undefined
  #previousServer: tls.Server | undefined = undefined
  #turn: number | undefined = undefined
  #info = ''

  /** @throws {Error} when the certificate cannot be used. */
  constructor(settings: TlsSettings, parts: TicketedServerParts) {
    this.#settings = settings
    this.#parts = parts
    this.#server = this.#make(this.#refresh()?.key)
  }

  /** The one whose key opens one of the tickets; else the one of the present key. */
  serverFor(ticketNames: readonly Buffer[]): tls.Server {
    const fresh = this.#refresh()
    if (fresh !== undefined) this.#server.setTicketKeys(fresh.key)
    const name = this.#previousKey?.subarray(0, TICKET_NAME_BYTES)
    if (name === undefined || !ticketNames.some((one) => one.equals(name))) return this.#server
    return (this.#previousServer ??= this.#make(this.#previousKey))
  }

  /** One more like it, for a connection that must not be taken for another. */
  make(ticketNames: readonly Buffer[]): tls.Server {
    const isPrevious = this.serverFor(ticketNames) !== this.#server
    return this.#make(isPrevious ? this.#previousKey : this.#server.getTicketKeys())
  }

  #make(ticketKeys: Buffer | undefined): tls.Server {
    // The caller's deadline covers the ClientHello too, so the server's own must not come first.
    const options = { ...serverOptions(this.#settings), handshakeTimeout: 0x7fff_ffff }
    const server = tls.createServer({ ...options, ...(ticketKeys !== undefined && { ticketKeys }) })
    this.#parts.listen(server)
    return server
  }

  /** undefined: the present key is still the present one. */
  #refresh(): { readonly key: Buffer } | undefined {
    const { tickets } = this.#parts
    if (tickets === undefined || !issuesTickets(this.#settings)) return undefined
    const now = tickets.changedSince(this.#turn)
    if (now === undefined) return undefined
    this.#turn = now.turn
    this.#previousKey = this.#keyOf(now.previous)
    this.#previousServer = undefined
    return { key: this.#keyOf(now.current) }
  }

  /**
   * The same in all workers: a client that comes back meets another one. Bound to the settings: a ticket of one
   * listener, or of an earlier certificate, opens no other.
   */
  #keyOf(secret: Uint8Array): Buffer {
    if (this.#info === '') this.#info = `tls tickets ${fingerprint(this.#settings)}`
    return Buffer.from(hkdfSync('sha256', secret, '', this.#info, KEY_BYTES))
  }
}
