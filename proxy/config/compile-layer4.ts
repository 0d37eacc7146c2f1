// The protocol of a port below HTTP: none, TLS or plain TCP. Combines the compiled listeners of the bind.
import type { Bind, Listener, TCPRoute } from '#api/ir/types.gen.ts'
import type { PortFrontend } from '../policy/fields.ts'
import type { RequestHandler } from '../http/handler.ts'
import type { ListenerPlan } from '../chain/plan.ts'
import type { ListenerPlace } from '../policy/policy-index.ts'
import { effectiveFrontend } from '../policy/merge-backend.ts'
import type { TcpPlan } from '../tcp/plan.ts'
import { compileTcp } from './compile-tcp.ts'
import { compileTls, hostCheck, listenerNames } from './compile-tls.ts'
import type { CompiledBind } from './compiled.ts'
import type { CompileContext } from './context.ts'

export interface BindListener {
  readonly listener: Listener
  readonly place: ListenerPlace
  readonly plan: ListenerPlan
}

export interface Layer4Input {
  readonly bind: Bind
  readonly listeners: readonly BindListener[]
  /** Of the bind. */
  readonly frontend: PortFrontend
  readonly tcpRoutes: ReadonlyMap<string, readonly TCPRoute[]>
  readonly context: CompileContext
  /** The HTTP server of one listener. */
  readonly handlerOf: (plan: ListenerPlan) => RequestHandler
  /** That of a listener with protocol HBONE. */
  readonly hboneHandlerOf: (plan: ListenerPlan) => RequestHandler
  readonly warn: (message: string) => void
}

export function compileLayer4(input: Layer4Input): CompiledBind['layer4'] {
  const { bind, listeners, frontend, context, handlerOf, hboneHandlerOf, warn } = input
  if (bind.protocol === 'TCP') {
    const [only] = listeners
    return only === undefined ? undefined : { kind: 'TCP', tcp: tcpOf(only, input) }
  }
  if (bind.protocol !== 'TLS') return undefined
  const names = listenerNames(listeners.map(({ listener }) => listener))
  return compileTls({
    listeners: listeners.map((one) => ({
      listener: one.listener,
      place: one.plan.place,
      frontend: effectiveFrontend(context.policies, one.place),
      handler: () => handlerOf({ ...one.plan, misplaced: hostCheck(one.listener, names) }),
      hbone: () => hboneHandlerOf(one.plan),
      tcp: () => tcpOf(one, input),
    })),
    handshakeTimeoutMs: frontend.tls?.handshakeTimeoutMs,
    secret: context.secret,
    warn,
  })
}

function tcpOf({ listener, place, plan }: BindListener, { tcpRoutes, context }: Layer4Input): TcpPlan {
  return compileTcp({
    place: plan.place,
    listenerPlace: place,
    routes: tcpRoutes.get(listener.key) ?? [],
    frontend: effectiveFrontend(context.policies, place),
    accessLog: plan.accessLog,
    metricLabels: plan.metricLabels,
    context,
  })
}
