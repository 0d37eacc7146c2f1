// Names of models that requests may have, with the backends that they lead to. Pure.
import { fieldsOf, textOf } from '#cli/proxy/backends.ts'
import type { Dump } from './api.ts'
import { listOf, variantsOf } from './backend-parts.ts'

export interface OfferedModel {
  /** In requests. */
  readonly name: string
  /** One backend, or a line for each target of a virtual model. */
  readonly leadsTo: readonly string[]
}

export function offeredModels(dump: Dump): OfferedModel[] {
  return variantsOf(dump, 'llmRouter').flatMap(([{ namespace }, target]) =>
    listOf(target['models']).map((model) => ({
      name: textOf(fieldsOf(model)['name']),
      leadsTo: targetsOf(model).map((line) => line(namespace)),
    })),
  )
}

type Line = (namespace: string) => string

function targetsOf(model: unknown): Line[] {
  const { weighted, conditional, ...only } = fieldsOf(model)
  if (Array.isArray(weighted)) return weightedLines(weighted)
  if (Array.isArray(conditional)) return conditional.map(conditionLine)
  return [(namespace) => placeOf(only['backend'], namespace)]
}

/** Without a weight: 1. */
function weightedLines(targets: readonly unknown[]): Line[] {
  const weights = targets.map((target) => Number(fieldsOf(target)['weight'] ?? 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return targets.map((target, index) => {
    const share = total === 0 ? 0 : ((weights[index] ?? 0) / total) * 100
    return (namespace) => `${Number(share.toFixed(1))} % to ${targetText(target, namespace)}`
  })
}

/** The first whose condition is true. */
function conditionLine(target: unknown): Line {
  const { when } = fieldsOf(target)
  return (namespace) => `${targetText(target, namespace)}, ${when === undefined ? 'otherwise' : `if ${textOf(when)}`}`
}

function targetText(target: unknown, namespace: string): string {
  const { backend, model } = fieldsOf(target)
  if (backend === undefined) return 'a model that is not there'
  const place = placeOf(backend, namespace)
  return model === undefined ? place : `${place} as ${textOf(model)}`
}

function placeOf(backend: unknown, namespace: string): string {
  return `${namespace}/${textOf(backend)}`
}
