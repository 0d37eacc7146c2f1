// Finds the matches of one hostname for a path: a hash map for exact paths, a trie of segments for prefixes, one
// automaton for regular expressions. The cost depends on the path, not on the number of routes.
import type { RE2Set } from 're2js'
import { re2 } from '#api/late-re2.ts'
import type { HttpRequest } from '../message/message.ts'
import { normalisedPath } from '../http/request-path.ts'
import { compileFullMatch, type RequestTest } from './match.ts'

/** One match of one rule. */
export interface PathCandidate<R> {
  readonly test: RequestTest
  readonly result: R
}

/** Lists hold candidates in order of precedence. */
export interface PathTableInput<R> {
  readonly exact: ReadonlyMap<string, readonly PathCandidate<R>[]>
  /** By normalised prefix: no trailing slash, the empty string for `/`. */
  readonly prefixes: ReadonlyMap<string, readonly PathCandidate<R>[]>
  readonly regexes: readonly { readonly source: string; readonly candidate: PathCandidate<R> }[]
}

export interface PathTable<R> {
  find(path: string, request: HttpRequest): R | undefined
}

interface TrieNode<R> {
  children: Map<string, TrieNode<R>> | undefined
  candidates: readonly PathCandidate<R>[] | undefined
  /** Nearest node above with candidates. */
  fallback: TrieNode<R> | undefined
}

/** Below this number of expressions, a loop is cheaper than the common automaton. */
const REGEX_SET_MIN = 4

export function buildPathTable<R>(input: PathTableInput<R>): PathTable<R> {
  const { exact } = input
  const root = buildTrie(input.prefixes)
  const findByRegex = regexFinder(input.regexes)
  return {
    find(path, request) {
      if (exact.size > 0) {
        const candidates = exact.get(path)
        if (candidates !== undefined) {
          const result = firstMatch(candidates, request)
          if (result !== undefined) return result
        }
      }
      let node = deepestWithCandidates(root, path)
      while (node !== undefined) {
        const result = node.candidates === undefined ? undefined : firstMatch(node.candidates, request)
        if (result !== undefined) return result
        node = node.fallback
      }
      return findByRegex?.(path, request)
    },
  }
}

/** `/foo/` and `/foo` are the same prefix; `/` is the empty one. */
export function normalisePrefix(prefix: string): string {
  const path = normalisePath(prefix)
  return path.endsWith('/') ? path.slice(0, -1) : path
}

/** Normalised like request paths; a path that no request can have is unchanged. */
export function normalisePath(path: string): string {
  return normalisedPath(path) ?? path
}

function firstMatch<R>(candidates: readonly PathCandidate<R>[], request: HttpRequest): R | undefined {
  for (const candidate of candidates) {
    if (candidate.test === undefined || candidate.test(request)) return candidate.result
  }
  return undefined
}

function buildTrie<R>(prefixes: PathTableInput<R>['prefixes']): TrieNode<R> {
  const root: TrieNode<R> = { children: undefined, candidates: undefined, fallback: undefined }
  // Shorter prefixes first, so that all nodes above have their candidates.
  const sorted = [...prefixes].sort(([a], [b]) => a.length - b.length)
  for (const [prefix, candidates] of sorted) {
    let node = root
    let fallback: TrieNode<R> | undefined
    for (const segment of prefix === '' ? [] : prefix.slice(1).split('/')) {
      if (node.candidates !== undefined) fallback = node
      let child = node.children?.get(segment)
      if (child === undefined) {
        child = { children: undefined, candidates: undefined, fallback: undefined }
        ;(node.children ??= new Map()).set(segment, child)
      }
      node = child
    }
    node.candidates = candidates
    node.fallback = fallback
  }
  return root
}

/** Walks down whole segments as far as possible; remembers the deepest node with candidates. */
function deepestWithCandidates<R>(root: TrieNode<R>, path: string): TrieNode<R> | undefined {
  let found = root.candidates === undefined ? undefined : root
  let node = root
  let start = 1
  while (node.children !== undefined && start <= path.length) {
    const slash = path.indexOf('/', start)
    const end = slash < 0 ? path.length : slash
    const child = node.children.get(path.slice(start, end))
    if (child === undefined) break
    node = child
    if (node.candidates !== undefined) found = node
    start = end + 1
  }
  return found
}

/** The first expression of the list that matches the path and whose other conditions hold. */
function regexFinder<R>(
  regexes: PathTableInput<R>['regexes'],
): ((path: string, request: HttpRequest) => R | undefined) | undefined {
  if (regexes.length === 0) return undefined
  return regexes.length < REGEX_SET_MIN ? oneByOne(regexes) : together(regexes)
}

function oneByOne<R>(regexes: PathTableInput<R>['regexes']): (path: string, request: HttpRequest) => R | undefined {
  const entries = regexes.map(({ source, candidate }) => ({ covers: compileFullMatch(source), candidate }))
  return (path, request) => {
    for (const { covers, candidate } of entries) {
      const { test, result } = candidate
      if ((test === undefined || test(request)) && covers(path)) return result
    }
    return undefined
  }
}

function together<R>(regexes: PathTableInput<R>['regexes']): (path: string, request: HttpRequest) => R | undefined {
  const { RE2Set } = re2()
  const set = new RE2Set(RE2Set.ANCHOR_BOTH)
  const candidates: PathCandidate<R>[] = []
  for (const { source, candidate } of regexes) {
    if (isAccepted(set, source)) candidates.push(candidate)
  }
  if (candidates.length === 0) return () => undefined
  if (!isCompiled(set)) return oneByOne(regexes)
  return (path, request) => {
    const indexes = set.match(path)
    let best: PathCandidate<R> | undefined
    let bestIndex = candidates.length
    for (const index of indexes) {
      const candidate = candidates[index]
      if (index >= bestIndex || candidate === undefined) continue
      if (candidate.test === undefined || candidate.test(request)) {
        best = candidate
        bestIndex = index
      }
    }
    return best?.result
  }
}

/** False for an invalid expression: it matches nothing. */
function isAccepted(set: RE2Set, source: string): boolean {
  try {
    set.add(source)
    return true
  } catch {
    return false
  }
}

/** False if all expressions together are larger than the library allows for one automaton. */
function isCompiled(set: RE2Set): boolean {
  try {
    set.compile()
    return true
  } catch {
    return false
  }
}
