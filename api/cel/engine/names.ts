// Names that mean something by themselves: types, and the namespaces of functions.
import { CelType } from '../values/type-value.ts'
import type { Node } from './parse.ts'

const TYPES: ReadonlyMap<string, CelType> = new Map(
  [
    'bool',
    'int',
    'uint',
    'double',
    'string',
    'bytes',
    'list',
    'map',
    'null_type',
    'type',
    'optional_type',
    'google.protobuf.Duration',
    'google.protobuf.Timestamp',
    'net.IP',
    'net.CIDR',
  ].map((name) => [name, new CelType(name)]),
)

const NAMESPACES: ReadonlySet<string> = new Set([
  'base64',
  'cel',
  'form',
  'google',
  'math',
  'md5',
  'net',
  'optional',
  'sha1',
  'sha256',
  'strings',
  'url',
])

export function typeConstant(name: string): CelType | undefined {
  return TYPES.get(name)
}

export function isNamespace(name: string): boolean {
  return NAMESPACES.has(name)
}

/** `a.b.c` as text; undefined when the node is more than names and dots. */
export function dottedName(node: Node): string | undefined {
  const parts: string[] = []
  let at = node
  while (at.op === '.') {
    parts.push(at.args[1])
    at = at.args[0]
  }
  if (at.op !== 'id') return undefined
  parts.push(at.args)
  return parts.reverse().join('.')
}
