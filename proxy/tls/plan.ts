// The compiled form of a TLS bind: its listeners by server name, and what becomes of connections that chose one.
import type { ExchangePlace } from '../exchange/facts.ts'
import type { RequestHandler } from '../http/handler.ts'
import type { TcpPlan } from '../tcp/plan.ts'
import type { TlsSettings } from './settings.ts'

export interface TlsBindPlan {
  readonly kind: 'TLS'
  readonly handshakeTimeoutMs: number
  /** By key. */
  readonly listeners: ReadonlyMap<string, TlsListenerPlan>
  /** The most specific listener for a name of a ClientHello; undefined: the connection is refused. */
  readonly find: (serverName: string | undefined) => TlsListenerPlan | undefined
}

export interface TlsListenerPlan {
  readonly key: string
  readonly place: ExchangePlace
  /** Connections drain when it changes. Covers whatever was agreed on in the handshake. */
  readonly fingerprint: string
  readonly action: TlsAction
}

export type TlsAction =
  /** Handshakes fail. `reason` is for the log. */
  | { readonly kind: 'Refuse'; readonly reason: string }
  | { readonly kind: 'Passthrough'; readonly tcp: TcpPlan }
  | { readonly kind: 'Http'; readonly settings: TlsSettings; readonly handler: RequestHandler }
  | { readonly kind: 'Tcp'; readonly settings: TlsSettings; readonly tcp: TcpPlan }
