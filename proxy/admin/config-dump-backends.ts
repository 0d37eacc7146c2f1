// The `backends` part of the configuration dump: one variant object for each backend, sorted by key. Pure.
import type { components } from '#api/admin/types.gen.ts'
import type { AIProvider, Backend, MCPTarget, ProviderGroup, StaticTarget } from '#api/ir/types.gen.ts'
import { providerKey, staticKey } from '../backend/endpoint-keys.ts'
import { dumpInline } from './dump-inline.ts'
import { endpointInfo, type FiguresOf } from './endpoint-info.ts'

type Dump = Record<string, unknown>
type DumpBackend = components['schemas']['DumpBackend']

export function dumpBackends(backends: readonly Backend[], figures: FiguresOf): DumpBackend[] {
  return backends.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map((backend) => dumpBackend(backend, figures))
}

function dumpBackend(backend: Backend, figures: FiguresOf): DumpBackend {
  return { backend: variantOf(backend, figures), ...dumpInline(backend.inlinePolicies) }
}

function variantOf(backend: Backend, figures: FiguresOf): Dump {
  const name = { name: backend.name.name, namespace: backend.name.namespace, ...sectionOf(backend) }
  if (backend.static !== undefined) {
    return {
      host: {
        ...name,
        target: address(backend.static),
        ...staticInfo(backend, figures),
        ...(backend.a2a === true ? { a2a: true } : {}),
      },
    }
  }
  if (backend.dynamic !== undefined) return { dynamic: name }
  if (backend.ai !== undefined)
    return {
      ai: { ...name, target: { providers: backend.ai.groups.map((group) => dumpGroup(backend, group, figures)) } },
    }
  if (backend.mcp !== undefined) {
    const { targets, sessionRouting, prefixMode, failureMode } = backend.mcp
    return {
      mcp: {
        ...name,
        target: {
          targets: targets.map(dumpMcpTarget),
          stateful: sessionRouting === 'Stateful',
          prefixMode: prefixMode.toLowerCase(),
          failureMode: failureMode === 'FailOpen' ? 'failOpen' : 'failClosed',
        },
      },
    }
  }
  if (backend.models !== undefined) return { llmRouter: { ...name, target: backend.models } }
  if (backend.agentCore !== undefined) return { aws: { ...name, target: backend.agentCore } }
  return { invalid: { ...name, target: backend.invalid ?? 'no target' } }
}

function sectionOf(backend: Backend): Dump {
  return backend.section === undefined ? {} : { section: backend.section }
}

function address(target: StaticTarget): string {
  if (target.unixPath !== undefined) return `unix:${target.unixPath}`
  const host = target.host ?? ''
  return `${host.includes(':') ? `[${host}]` : host}:${target.port ?? 0}`
}

/**
 * Evicted providers are still active: they come back on their own, and serve when all are evicted. None weighs more
 * than another of its group.
 */
function dumpGroup(backend: Backend, group: ProviderGroup, figures: FiguresOf): Dump {
  return {
    active: Object.fromEntries(
      group.providers.map((provider) => {
        const key = providerKey(backend, provider)
        return [provider.name, { endpoint: dumpProvider(provider), ...infoOf(key, figures), capacity: 1 }]
      }),
    ),
    rejected: {},
  }
}

function staticInfo(backend: Backend, figures: FiguresOf): Dump {
  return infoOf(staticKey(backend), figures)
}

function infoOf(key: string | undefined, figures: FiguresOf): Dump {
  const known = key === undefined ? undefined : figures(key)
  return known === undefined ? {} : endpointInfo([known])
}

function dumpProvider(provider: AIProvider): Dump {
  const { hostOverride, inlinePolicies, ...rest } = provider
  return {
    ...rest,
    ...(hostOverride === undefined ? {} : { hostOverride: `${hostOverride.host}:${hostOverride.port}` }),
    ...dumpInline(inlinePolicies),
  }
}

function dumpMcpTarget(target: MCPTarget): Dump {
  return { ...target }
}
