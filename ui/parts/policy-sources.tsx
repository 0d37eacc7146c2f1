// The places that set a field of a policy, with a link to each policy.
import { sourceOf } from '#cli/explain/explanation.ts'
import { givenReference } from '#cli/proxy/given-names.ts'
import type { Dump, EffectivePolicies } from '../api.ts'
import { hrefOf } from '../place.ts'

export type Source = EffectivePolicies['route'][number]['sources'][number]

export interface PolicySourcesProps {
  readonly sources: readonly Source[]
  readonly field: string
  readonly dump: Dump
}

export function PolicySources({ sources, field, dump }: PolicySourcesProps) {
  return (
    <>
      {sources.map((source) => {
        const text = sourceText(source, field)
        const isPolicy = dump.policies.some(({ key }) => key === source.key)
        return (
          <div key={`${source.kind} ${source.key}`}>
            {isPolicy ? <a href={hrefOf('policies', source.key)}>{text}</a> : text}
          </div>
        )
      })}
    </>
  )
}

function sourceText({ kind, key }: Source, field: string): string {
  if (kind === 'rule') return `the rule ${key}`
  if (kind === 'backend') return `the backend ${givenReference(key)}`
  if (kind === 'backendRef') return `the reference in the rule ${key}`
  const source = sourceOf(key, field)
  return source.field === undefined ? source.object : `${source.object} (${source.field})`
}
