// Field paths as the API server prints them: `spec.listeners[0].port`, with `[key]` for the key of a map in rules.
import type { FieldPath } from '../problem.ts'

export function fieldPath(parent: FieldPath, name: string): FieldPath {
  return parent === '' ? name : `${parent}.${name}`
}

export function indexPath(parent: FieldPath, index: number): FieldPath {
  return `${parent}[${index}]`
}

export function keyPath(parent: FieldPath, key: string): FieldPath {
  return `${parent}[${key}]`
}

/** From a JSON pointer into `object`. Keys of maps look like fields here: the API server's structural check does so. */
export function pointerPath(pointer: string, object: unknown): FieldPath {
  let path = ''
  let value = object
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    path = Array.isArray(value) ? indexPath(path, Number(key)) : fieldPath(path, key)
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  }
  return path
}

export function valueAt(pointer: string, object: unknown): unknown {
  let value = object
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  }
  return value
}
