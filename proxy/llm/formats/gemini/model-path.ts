// The part of a path that names the model and its method.

/** `model`: also with `models/` in front, as Google spells it. */
export function modelPath(model: string, isStreaming: boolean): string {
  const [, kind = 'models', name = model] = /^(models|tunedModels)\/(.+)$/s.exec(model) ?? []
  const method = isStreaming ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return `/${kind}/${encodeURIComponent(name)}:${method}`
}
