// Label and field selectors of list and watch: the part that Gw uses.
import type { FakeObject } from './store.ts'

export type Match = (object: FakeObject) => boolean

export function matchOf(namespace: string | undefined, query: URLSearchParams): Match {
  const labels = (query.get('labelSelector') ?? '').split(',').filter((term) => term !== '')
  const fields = (query.get('fieldSelector') ?? '').split(',').filter((term) => term !== '')
  const checks: Match[] = [...labels.map(labelCheck), ...fields.map(fieldCheck)]
  if (namespace !== undefined) checks.push(({ metadata }) => metadata.namespace === namespace)
  return (object) => checks.every((check) => check(object))
}

function labelCheck(term: string): Match {
  const [name = '', value] = term.replace(/^!/, '').split(/!=|==?/)
  if (term.startsWith('!')) return ({ metadata }) => metadata.labels?.[name] === undefined
  if (term.includes('!=')) return ({ metadata }) => metadata.labels?.[name] !== value
  if (value === undefined) return ({ metadata }) => metadata.labels?.[name] !== undefined
  return ({ metadata }) => metadata.labels?.[name] === value
}

function fieldCheck(term: string): Match {
  const isNot = term.includes('!=')
  const [path = '', value] = term.split(/!=|==?/)
  return (object) => {
    const found = read(object, path.split('.'))
    return ((typeof found === 'string' ? found : '') === value) !== isNot
  }
}

function read(value: unknown, path: readonly string[]): unknown {
  const [first, ...rest] = path
  if (first === undefined) return value
  return typeof value === 'object' && value !== null ? read((value as Record<string, unknown>)[first], rest) : undefined
}
