// A whole operator for tests, against any API server: starts it in a scope of its own and stops it again.
import { KubeConfig } from '@kubernetes/client-node'
import { Effect, Exit, Layer, Logger, Scope } from 'effect'
import { type LeaseTimes } from '#operator/controllers/lease.ts'
import { type RunningOperator, startOperator } from '#operator/controllers/operator.ts'
import { type OperatorSettings, resolveOperatorSettings } from '#operator/controllers/settings.ts'
import type { OperatorObserver } from '#operator/controllers/world.ts'
import { KubeClient } from '#operator/kube/client.ts'
import { createTransport } from '#operator/kube/transport.ts'

const none = (): void => undefined
/** Takes no note of anything. */
export const IDLE_OBSERVER: OperatorObserver = {
  run: none,
  running: none,
  translated: none,
  translationFailed: none,
  objectFailed: none,
  leading: none,
  rejected: none,
  followed: none,
  wrote: none,
  filled: none,
}

export interface TestOperator {
  readonly operator: RunningOperator
  readonly log: string[]
  stop(): Promise<void>
}

export interface TestOperatorOptions {
  readonly config: KubeConfig
  readonly environment?: Readonly<Record<string, string>>
  readonly leaseTimes?: LeaseTimes
  readonly identity?: string
  readonly observer?: Partial<OperatorObserver>
  readonly onWrite?: Parameters<typeof createTransport>[1]
}

export function configFor(server: string): KubeConfig {
  const config = new KubeConfig()
  // The client library treats plain HTTP, which the fake server uses, as TLS without verification.
  config.loadFromClusterAndUser({ name: 'test', server, skipTLSVerify: true }, { name: 'test', token: 'test' })
  return config
}

export function settingsFor(environment: Readonly<Record<string, string>>, identity: string): OperatorSettings {
  const outcome = resolveOperatorSettings(environment, identity)
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  return outcome.settings
}

export async function testOperator(options: TestOperatorOptions): Promise<TestOperator> {
  const { config, environment = {}, identity = 'test', leaseTimes, observer, onWrite } = options
  const transport = createTransport(config, onWrite)
  const scope = Effect.runSync(Scope.make())
  const log: string[] = []
  const logger = Logger.make(({ message, logLevel }) => log.push(`${logLevel} ${JSON.stringify(message)}`))
  const operator = await Effect.runPromise(
    startOperator({
      settings: settingsFor({ GW_DISABLE_LEADER_ELECTION: 'true', ...environment }, identity),
      observer: { ...IDLE_OBSERVER, ...observer },
      ...(leaseTimes !== undefined && { leaseTimes }),
    }).pipe(Scope.provide(scope), Effect.provide(Layer.merge(KubeClient.layerOf(transport), Logger.layer([logger])))),
  )
  return {
    operator,
    log,
    stop: async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      transport.close()
    },
  }
}
