// The rules of traffic.yaml and frontend.yaml name fields one by one, while the fields are the files of a folder. This
// keeps the two together: a new field cannot be forgotten in a rule.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

interface Section {
  'x-kubernetes-validations': { rule: string; message: string }[]
}

const SCHEMA = join(import.meta.dirname, '..')

describe('sections of GwPolicy', () => {
  it('require at least one field, whichever it is', () => {
    expect(namesIn(ruleOf('frontend', 0))).toEqual(fieldsOf('frontend'))
    expect(namesIn(ruleOf('traffic', 0))).toEqual(fieldsOf('traffic').filter((name) => name !== 'phase'))
  })

  it('decide for each traffic field whether phase PreRouting allows it', () => {
    const refused = namesIn(ruleOf('traffic', 1))
    const allowed = fieldsOf('traffic').filter((name) => name !== 'phase' && !refused.includes(name))
    const named = /^phase PreRouting allows only (.*); /.exec(
      section('traffic')['x-kubernetes-validations'][1]?.message ?? '',
    )
    expect(named?.[1]?.split(/, | and /).sort()).toEqual(allowed)
  })

  it('separate the frontend fields that may target one listener from the others', () => {
    const rule = section('spec')['x-kubernetes-validations'].find(({ message }) => message.startsWith('frontend.tcp,'))
    const oneListener = new Set(['accessLog', 'metrics', 'tracing'])
    expect(namesIn(rule?.rule ?? '', 'self.frontend')).toEqual(
      fieldsOf('frontend').filter((name) => !oneListener.has(name)),
    )
  })
})

function section(name: 'frontend' | 'spec' | 'traffic'): Section {
  // A file beside this one, checked by the generator.
  return parse(readFileSync(join(SCHEMA, 'policy', `${name}.yaml`), 'utf8')) as Section
}

function ruleOf(name: 'frontend' | 'traffic', index: number): string {
  return section(name)['x-kubernetes-validations'][index]?.rule ?? ''
}

/** The fields of `owner` that a rule asks for, sorted. */
function namesIn(rule: string, owner = 'self'): string[] {
  const calls = rule.matchAll(/has\(([\w.]+)\.(\w+)\)/g)
  return [...calls].flatMap(([, of, name]) => (of === owner && name !== undefined ? [name] : [])).sort()
}

function fieldsOf(name: 'frontend' | 'traffic'): string[] {
  const files = readdirSync(join(SCHEMA, name)).filter((file) => file.endsWith('.yaml'))
  return files
    .map((file) => file.slice(0, -'.yaml'.length).replaceAll(/-./g, (part) => part.slice(1).toUpperCase()))
    .sort()
}
