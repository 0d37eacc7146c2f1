// What the deployment of a Gateway depends on in its rendered configuration. Pure.
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import type { DeployInput } from './input.ts'

type RenderedFacts = Pick<DeployInput, 'ports' | 'meshListeners'>

export function renderedFacts({ binds, listeners }: Pick<RenderedConfig, 'binds' | 'listeners'>): RenderedFacts {
  return {
    ports: binds.filter(({ mode }) => mode !== 'Internal').map(({ port }) => port),
    meshListeners: listeners.flatMap(({ name: { listenerName: listener, listenerSet: set }, tls }) =>
      set === undefined || tls?.mesh === undefined ? [] : [{ set, listener }],
    ),
  }
}
