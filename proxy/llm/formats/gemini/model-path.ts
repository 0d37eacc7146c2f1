// The part of a path that names the model and its method: requests of the format have both nowhere else.

/** `model`: also with `models/` in front, as Google spells it. */
export function modelPath(model: string, method: string): string {
  const [, kind = 'models', name = model] = /^(models|tunedModels)\/(.+)$/s.exec(model) ?? []
  return `/${kind}/${encodeURIComponent(name)}:${method}`
}

const STREAM_METHOD = 'streamGenerateContent'

/** Streams are requested as events, whatever the client asked for. */
export function generateMethod(isStreaming: boolean): string {
  return isStreaming ? `${STREAM_METHOD}?alt=sse` : 'generateContent'
}

export interface PathParts {
  /** In front of `/models/`. */
  readonly base: string
  readonly model: string
  readonly method: string
}

const KINDS = ['/models/', '/tunedModels/'] as const

/** undefined: the path names no model. */
export function readModelPath(path: string): PathParts | undefined {
  const end = path.lastIndexOf(':')
  for (const kind of KINDS) {
    const at = path.indexOf(kind)
    if (at === -1 || end <= at + kind.length) continue
    const name = decodedOrNot(path.slice(at + kind.length, end))
    if (name === undefined) return undefined
    const model = kind === '/models/' ? name : kind.slice(1) + name
    const method = path.slice(end + 1)
    return /^[a-zA-Z]+$/.test(method) ? { base: path.slice(0, at), model, method } : undefined
  }
  return undefined
}

export function isStreamMethod(method: string): boolean {
  return method === STREAM_METHOD
}

/** undefined: not percent-encoded UTF-8. */
export function decodedOrNot(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    // The caller handles it as an absent value.
    return undefined
  }
}
