// Which fields of the contract refer to secrets: those of its schema, and those that a configuration has.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Fields of the contract that refer to a secret, from its schema. */
export function secretFields(): string[] {
  const root = join(import.meta.dirname, '..', '..', 'api', 'ir', 'schema')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'))
  return files.flatMap((name) => {
    const lines = readFileSync(join(root, name), 'utf8').split('\n')
    return lines.flatMap((line, index) => {
      if (!line.includes('secret-ref.yaml')) return []
      // `items` of a list have the name of the list.
      const own = /^\s*(\w+):/.exec(line)?.[1] ?? ''
      const above = lines
        .slice(0, index)
        .reverse()
        .map((text) => /^\s*(\w+):\s*$/.exec(text)?.[1])
      return [`${name.slice(0, -'.yaml'.length)} ${own === 'items' ? above.find((text) => text !== undefined) : own}`]
    })
  })
}

/** Paths of all references to secrets, without positions in lists. */
export function references(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return []
  if ('secret' in value && typeof value.secret === 'string') return [path.join('.')]
  return Object.entries(value).flatMap(([key, own]) => references(own, /^\d+$/.test(key) ? path : [...path, key]))
}
