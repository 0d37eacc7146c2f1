// The tls.Servers of one listener: one for each set of certificates that clients are shown, and each of them once more
// for clients that bring a ticket of the hour before, since node knows one ticket key for each server. The ClientHello
// determines which of them it has to be: by the name it asks for, and by the name of the key that sealed its ticket.
import { Buffer } from 'node:buffer'
import { hkdfSync } from 'node:crypto'
import tls from 'node:tls'
import { CertificateChoice, type ChosenCertificates } from './certificates.ts'
import { fingerprint, issuesTickets, serverOptions, type TlsSettings } from './settings.ts'
import type { SignedContexts } from './signed-contexts.ts'
import { createSignedContexts } from './signing.ts'
import type { TicketSecrets } from './ticket-secrets.ts'

/** In the form of OpenSSL: name, secret of the signature, secret of the cipher. */
const KEY_BYTES = 48
const NAME_BYTES = 16

export interface TicketedServerParts {
  /** undefined: each server has a key of its own. */
  readonly tickets: TicketSecrets | undefined
  /** For each server that is made. */
  readonly listen: (server: tls.Server) => void
}

/** What a ClientHello says about the server it needs. */
export interface Greeting {
  readonly serverName: string | undefined
  readonly ticketNames: readonly Buffer[]
}

export class TicketedServer {
  readonly #settings: TlsSettings
  readonly #parts: TicketedServerParts
  readonly #choice: CertificateChoice
  /** By the key of a choice. */
  readonly #servers = new Map<string, tls.Server>()
  readonly #previousServers = new Map<string, tls.Server>()
  /** Where certificates are signed as they are asked for there is one server for all names. */
  readonly #signed: SignedContexts | undefined
  #key: Buffer | undefined = undefined
  #previousKey: Buffer | undefined = undefined
  #turn: number | undefined = undefined
  #info = ''

  /**
   * After `loadSigning` where the settings ask for it.
   * @throws {Error} if one of several certificates is invalid, or one that has to sign is not an authority.
   */
  constructor(settings: TlsSettings, parts: TicketedServerParts) {
    this.#settings = settings
    this.#parts = parts
    this.#choice = new CertificateChoice(settings, settings.moreCertificates)
    this.#signed = settings.signsCertificates ? createSignedContexts(settings, serverOptions(settings)) : undefined
  }

  /** @throws {Error} when a certificate cannot be used. */
  serverFor(greeting: Greeting): tls.Server {
    this.#signed?.for(greeting.serverName)
    const isPrevious = this.#bringsPrevious(greeting)
    const servers = isPrevious ? this.#previousServers : this.#servers
    const chosen = this.#choice.for(greeting.serverName)
    let server = servers.get(chosen.key)
    if (server === undefined) {
      server = this.#make(chosen, isPrevious)
      servers.set(chosen.key, server)
    }
    return server
  }

  /** One more like it, for a connection that must not be taken for another. @throws {Error} as `serverFor`. */
  make(greeting: Greeting): tls.Server {
    this.#signed?.for(greeting.serverName)
    const isPrevious = this.#bringsPrevious(greeting)
    return this.#make(this.#choice.for(greeting.serverName), isPrevious)
  }

  #bringsPrevious({ ticketNames }: Greeting): boolean {
    this.#refresh()
    const name = this.#previousKey?.subarray(0, NAME_BYTES)
    return name !== undefined && ticketNames.some((one) => one.equals(name))
  }

  #make({ pairs }: ChosenCertificates, isPrevious: boolean): tls.Server {
    const ticketKeys = isPrevious ? this.#previousKey : this.#key
    const server = tls.createServer({
      ...serverOptions(this.#settings),
      ...(this.#signed === undefined ? certificatesOf(pairs) : { SNICallback: callbackOf(this.#signed) }),
      // The caller's deadline covers the ClientHello too, so the server's own must not come first.
      handshakeTimeout: 0x7fff_ffff,
      ...(ticketKeys !== undefined && { ticketKeys }),
    })
    this.#parts.listen(server)
    return server
  }

  #refresh(): void {
    const { tickets } = this.#parts
    if (tickets === undefined || !issuesTickets(this.#settings)) return
    const now = tickets.changedSince(this.#turn)
    if (now === undefined) return
    this.#turn = now.turn
    this.#key = this.#keyOf(now.current)
    this.#previousKey = this.#keyOf(now.previous)
    this.#previousServers.clear()
    for (const server of this.#servers.values()) server.setTicketKeys(this.#key)
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

function certificatesOf(pairs: ChosenCertificates['pairs']): tls.SecureContextOptions {
  return {
    cert: pairs.map(({ certificate }) => certificate),
    key: pairs.map(({ privateKey }) => privateKey),
  }
}

/** What the ClientHello asks for is signed by now. */
function callbackOf(signed: SignedContexts): NonNullable<tls.TlsOptions['SNICallback']> {
  return (serverName, done) => {
    try {
      done(null, signed.for(serverName))
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  }
}
