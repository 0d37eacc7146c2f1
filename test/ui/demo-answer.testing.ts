// What the model of the demo provider says, in whatever format.

export interface DemoAnswer {
  /** Of the text, as a stream sends it. */
  readonly parts: readonly [string, string]
  /** Whether it calls the tool. */
  readonly hasCall: boolean
}

export const MODEL = 'gpt-demo'
export const CALL = { id: 'call-1', name: 'forecast', arguments: '{"place":"Bern"}' }
export const TOKENS = { input: 900, output: 300, total: 1200 }
