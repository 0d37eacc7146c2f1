// A context that records all lookups: a compiled plan may be kept while every lookup returns the same
// result. Results come from the configuration in force, so that kept plans reference no earlier one.
import type { Workload } from '#api/ir/types.gen.ts'
import { EndpointTable } from '../backend/endpoints.ts'
import { type Directory, TargetResolver } from '../backend/targets.ts'
import type { PolicyIndex } from '../policy/policy-index.ts'
import { effectiveService } from '../policy/merge-backend.ts'
import type { CompileEnvironment } from './compile-environment.ts'
import type { CompileContext } from './context.ts'
import { meshTunnels } from './mesh-tunnels.ts'

/** Shared by all plans of one listener. */
export interface InForce {
  context: CompileContext
}

interface Answer {
  readonly ask: (context: CompileContext) => unknown
  readonly value: unknown
}

export class TrackedContext implements CompileContext {
  readonly environment: CompileEnvironment
  readonly policies: PolicyIndex
  readonly directory: Directory
  readonly resolver: TargetResolver
  readonly expression: CompileContext['expression']
  readonly secret: CompileContext['secret']
  readonly credentialNames: CompileContext['credentialNames']
  readonly #inForce: InForce
  /** By lookup. */
  readonly #answers = new Map<string, Answer>()

  constructor(inForce: InForce) {
    this.#inForce = inForce
    this.environment = this.#trackedEnvironment()
    this.policies = { at: (level) => this.#ask(`policies ${level}`, ({ policies }) => policies.at(level)) }
    this.directory = this.#trackedDirectory()
    this.expression = (source) => {
      // What it compiles to depends on them alone.
      void this.functions
      return inForce.context.expression(source)
    }
    this.credentialNames = () => inForce.context.credentialNames()
    this.secret = (ref) => this.#ask('secrets', ({ secret }) => secret)(ref)
    this.resolver = new TargetResolver(this.directory, new EndpointTable(this.environment.endpoints), {
      secret: this.secret,
      ownPolicies: (place) => effectiveService(this.policies, place),
      place: this.environment.place,
      meshTunnel: meshTunnels(this.environment.hbone, this.secret),
      connections: this.environment.connections,
    })
  }

  get functions(): CompileContext['functions'] {
    return this.#ask('functions', ({ functions }) => functions)
  }

  get auth(): CompileContext['auth'] {
    return this.#ask('auth', ({ auth }) => auth)
  }

  get otlp(): CompileContext['otlp'] {
    return this.#ask('otlp', ({ otlp }) => otlp)
  }

  /** Whether lookups in `context` return the recorded results. */
  isAnsweredBy(context: CompileContext): boolean {
    for (const { ask, value } of this.#answers.values()) if (ask(context) !== value) return false
    return true
  }

  /** The first result counts: a later lookup, while requests run, may return another one. */
  #ask<T>(what: string, ask: (context: CompileContext) => T): T {
    const value = ask(this.#inForce.context)
    if (!this.#answers.has(what)) this.#answers.set(what, { ask, value })
    return value
  }

  #trackedEnvironment(): CompileEnvironment {
    const inForce = this.#inForce
    return {
      ...inForce.context.environment,
      rateLimits: {
        bucket: (key, limit) =>
          this.#ask('rate limits', ({ environment }) => environment.rateLimits).bucket(key, limit),
      },
      endpoints: {
        get memory() {
          return inForce.context.environment.endpoints.memory
        },
        place: (key) => inForce.context.environment.endpoints.place(key),
        state: (key) => {
          this.#ask('endpoint memory', ({ environment }) => environment.endpoints.memory)
          this.#ask(`endpoint ${key}`, ({ environment }) => environment.endpoints.place(key))
          return inForce.context.environment.endpoints.state(key)
        },
      },
    }
  }

  #trackedDirectory(): Directory {
    const inForce = this.#inForce
    const askWorkloads = (): unknown => this.#ask('workloads', ({ directory }) => versionOf(directory.workloads))
    return {
      get workloads() {
        askWorkloads()
        return inForce.context.directory.workloads
      },
      backend: (key) => this.#ask(`backend ${key}`, ({ directory }) => directory.backend(key)),
      service: (namespace, hostname) =>
        this.#ask(`service ${namespace}/${hostname}`, ({ directory }) => directory.service(namespace, hostname)),
      members: (namespace, hostname) =>
        this.#ask(`members ${namespace}/${hostname}`, ({ directory }) => directory.members(namespace, hostname)),
      addresses: (namespace, hostname, port) => {
        this.directory.members(namespace, hostname)
        return inForce.context.directory.addresses(namespace, hostname, port)
      },
    }
  }
}

const versions = new WeakMap<readonly Workload[], object>()

/** Stands for a long list, without a reference to it. */
function versionOf(workloads: readonly Workload[]): object {
  let version = versions.get(workloads)
  if (version === undefined) versions.set(workloads, (version = {}))
  return version
}
