// A client for tests: what its SDK must offer, and what a program sees of an answer.

/** What a program sees in the objects of its SDK, in no vendor's form. */
export interface SeenAnswer {
  readonly reasoning: string
  readonly text: string
  /** Base64; absent: none. */
  readonly images?: readonly string[]
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[]
  readonly stop: string
  readonly input: number
  readonly cached: number
  readonly output: number
}

export interface Client {
  readonly stops: { readonly [S in 'stop' | 'length' | 'toolCalls']: string }
  /** @throws {Error} what the SDK throws for an error. */
  read(answer: Response, isStream: boolean): Promise<SeenAnswer>
  /** All events of a stream. */
  grammar(text: string): void
}

export function framesOf(text: string): readonly { readonly event: string; readonly data: string }[] {
  if (!text.endsWith('\n\n')) throw new Error('half an event')
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((frame) => {
      const [, , event = '', data = ''] = /^(event: (.*)\n)?data: (.*)$/.exec(frame) ?? []
      return { event, data }
    })
}
