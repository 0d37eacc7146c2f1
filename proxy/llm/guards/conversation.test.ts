// The texts of each chat format, and bodies with other texts.
import { describe, expect, it } from 'vitest'
import type { SentFormatName } from '#api/llm/formats.ts'
import { parseObject, type JsonObject } from '../json.ts'
import { editedText, readJsonText } from '../json-text.ts'
import { Conversation } from './conversation.ts'
import { FORMAT_TEXTS, type FormatTexts } from './text-fields.ts'

function textsOf(name: SentFormatName): FormatTexts {
  const texts = FORMAT_TEXTS[name]
  if (texts === undefined) throw new Error(`${name} has no texts`)
  return texts
}

/** Role, text and place of each span. */
function spans({ spans: all }: Conversation): readonly string[] {
  return all.map(({ role, text, at }) => `${role} ${text} ${at}`)
}

/** The text with the digits of each span replaced by signs. */
function withMasks(text: string, name: SentFormatName, side: 'request' | 'answer'): string {
  const json = readJsonText(text)
  if (json === undefined) throw new Error('not an object')
  const conversation = Conversation[side === 'request' ? 'ofRequest' : 'ofAnswer'](json.members, textsOf(name))
  const masks = conversation.spans.map((span) => span.text.replaceAll(/\d/g, '#'))
  return editedText({ ...json, members: conversation.write(masks, json.members) })
}

const REQUESTS: Readonly<Partial<Record<SentFormatName, readonly [JsonObject, readonly string[]]>>> = {
  Completions: [
    {
      model: 'm',
      user: 'u',
      tools: [{ function: { name: 'f', description: 'd' } }],
      messages: [
        { role: 'developer', content: 'a' },
        { role: 'system', content: [{ type: 'text', text: 'b' }] },
        {
          role: 'user',
          name: 'n',
          content: [
            { type: 'text', text: 'c' },
            { type: 'image_url', image_url: { url: 'data:x' } },
            { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
            { type: 'file', file: { file_data: 'data:y', filename: 'z' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          refusal: 'd',
          reasoning_content: 'e',
          tool_calls: [
            { id: '1', type: 'function', function: { name: 'f', arguments: '{"x":"f","y":[7,{"z":"g"}],"t":true}' } },
            { id: '2', type: 'function', function: { name: 'f', arguments: '{"x":' } },
            { id: '3', type: 'custom', custom: { name: 'f', input: 'h' } },
          ],
        },
        { role: 'assistant', content: '', function_call: { name: 'f', arguments: '{"x":"i"}' } },
        { role: 'tool', tool_call_id: '1', content: 'j' },
        { role: 'function', name: 'f', content: 'k' },
      ],
      prediction: { type: 'content', content: [{ type: 'text', text: 'l' }] },
    },
    [
      'system a messages[0].content',
      'system b messages[1].content[0].text',
      'user c messages[2].content[0].text',
      'assistant d messages[3].refusal',
      'assistant e messages[3].reasoning_content',
      'assistant f messages[3].tool_calls[0].function.arguments.x',
      'assistant 7 messages[3].tool_calls[0].function.arguments.y[0]',
      'assistant g messages[3].tool_calls[0].function.arguments.y[1].z',
      'assistant {"x": messages[3].tool_calls[1].function.arguments',
      'assistant h messages[3].tool_calls[2].custom.input',
      'assistant i messages[4].function_call.arguments.x',
      'tool j messages[5].content',
      'tool k messages[6].content',
      'user l prediction.content[0].text',
    ],
  ],
  Messages: [
    {
      model: 'm',
      metadata: { user_id: 'u' },
      system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: 'b' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'c', signature: 's' },
            { type: 'text', text: 'd', citations: [{ type: 'char_location', cited_text: 'e', document_title: 't' }] },
            { type: 'tool_use', id: '1', name: 'f', input: { x: 'f', text: { content: 'g' } } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: '1', content: 'h' },
            { type: 'tool_result', tool_use_id: '2', content: [{ type: 'text', text: 'i' }] },
            { type: 'document', title: 'j', context: 'k', source: { type: 'text', media_type: 'x', data: 'l' } },
            { type: 'document', source: { type: 'base64', media_type: 'x', data: 'AA' } },
            { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'm' }] } },
            { type: 'code_execution_tool_result', content: { stdout: 'n', stderr: '' } },
            { type: 'unknown_block', nested: { content: [{ text: 'o' }] } },
          ],
        },
      ],
    },
    [
      'system a system[0].text',
      'user b messages[0].content',
      'assistant c messages[1].content[0].thinking',
      'assistant d messages[1].content[1].text',
      'assistant e messages[1].content[1].citations[0].cited_text',
      'assistant f messages[1].content[2].input.x',
      'assistant g messages[1].content[2].input.text.content',
      'tool h messages[2].content[0].content',
      'tool i messages[2].content[1].content[0].text',
      'user j messages[2].content[2].title',
      'user k messages[2].content[2].context',
      'user l messages[2].content[2].source.data',
      'user m messages[2].content[4].source.content[0].text',
      'tool n messages[2].content[5].content.stdout',
      'user o messages[2].content[6].nested.content[0].text',
    ],
  ],
  Responses: [
    {
      model: 'm',
      instructions: 'a',
      prompt: { id: 'p', variables: { city: 'b', more: { type: 'input_text', text: 'c' } } },
      input: [
        { role: 'user', content: 'd' },
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'e' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'f' },
            { type: 'refusal', refusal: 'g' },
          ],
        },
        { type: 'reasoning', id: 'r', encrypted_content: 'x', summary: [{ type: 'summary_text', text: 'h' }] },
        { type: 'function_call', call_id: '1', name: 'f', arguments: '{"x":"i"}' },
        { type: 'function_call_output', call_id: '1', output: 'j' },
        { type: 'function_call_output', call_id: '1', output: [{ type: 'input_text', text: 'k' }] },
        { type: 'custom_tool_call', name: 'f', input: 'l' },
        { type: 'custom_tool_call_output', output: 'm' },
        { type: 'shell_call_output', output: [{ stdout: 'n', stderr: 'o' }] },
        { type: 'code_interpreter_call', code: 'p', outputs: [{ type: 'logs', logs: 'q' }] },
        { type: 'file_search_call', queries: ['r'], results: [{ file_id: 'x', text: 's' }] },
        { type: 'mcp_call', name: 'f', arguments: '{}', output: 't', error: 'u' },
        { type: 'apply_patch_call', operation: { type: 'update_file', path: 'v', diff: 'w' } },
        { type: 'mcp_approval_response', approve: false, reason: 'x' },
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: 'data:x' },
            { type: 'input_file', file_data: 'y' },
          ],
        },
      ],
    },
    [
      'system a instructions',
      'system e input[1].content[0].text',
      'user d input[0].content',
      'user b prompt.variables.city',
      'user input_text prompt.variables.more.type',
      'user c prompt.variables.more.text',
      'assistant f input[2].content[0].text',
      'assistant g input[2].content[1].refusal',
      'assistant h input[3].summary[0].text',
      'assistant i input[4].arguments.x',
      'tool j input[5].output',
      'tool k input[6].output[0].text',
      'assistant l input[7].input',
      'tool m input[8].output',
      'tool n input[9].output[0].stdout',
      'tool o input[9].output[0].stderr',
      'assistant p input[10].code',
      'assistant q input[10].outputs[0].logs',
      'assistant r input[11].queries[0]',
      'assistant s input[11].results[0].text',
      'assistant t input[12].output',
      'assistant u input[12].error',
      'assistant update_file input[13].operation.type',
      'assistant v input[13].operation.path',
      'assistant w input[13].operation.diff',
      'user x input[14].reason',
    ],
  ],
  GenerateContent: [
    {
      systemInstruction: { parts: [{ text: 'a' }] },
      contents: [
        { role: 'user', parts: [{ text: 'b' }, { inlineData: { mimeType: 'image/png', data: 'AA' } }] },
        {
          role: 'model',
          parts: [{ text: 'c', thought: true }, { functionCall: { name: 'f', args: { x: 'd', n: 8 } } }],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { y: ['e'] } } }] },
      ],
    },
    [
      'system a systemInstruction.parts[0].text',
      'user b contents[0].parts[0].text',
      'assistant c contents[1].parts[0].text',
      'assistant d contents[1].parts[1].functionCall.args.x',
      'assistant 8 contents[1].parts[1].functionCall.args.n',
      'tool e contents[2].parts[0].functionResponse.response.y[0]',
    ],
  ],
}

const ANSWERS: typeof REQUESTS = {
  Completions: [
    {
      id: 'x',
      choices: [
        {
          message: {
            role: 'assistant',
            content: 'a',
            refusal: null,
            tool_calls: [{ function: { arguments: '{"x":"b"}' } }],
          },
          logprobs: null,
        },
        { message: { role: 'assistant', content: 'c', audio: { data: 'AA', transcript: 'd' } } },
      ],
    },
    [
      'assistant a choices[0].message.content',
      'assistant b choices[0].message.tool_calls[0].function.arguments.x',
      'assistant c choices[1].message.content',
      'assistant d choices[1].message.audio.transcript',
    ],
  ],
  Messages: [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'a' },
        { type: 'tool_use', input: { x: 'b' } },
      ],
      stop_sequence: 's',
    },
    ['assistant a content[0].text', 'assistant b content[1].input.x'],
  ],
  Responses: [
    {
      instructions: 'of the client',
      output_text: 'b',
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'a' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'b', annotations: [] }] },
        { type: 'function_call', arguments: '{"x":"c"}' },
      ],
    },
    [
      'assistant a output[0].summary[0].text',
      'assistant b output[1].content[0].text',
      'assistant c output[2].arguments.x',
      'assistant b output_text',
    ],
  ],
  GenerateContent: [
    { candidates: [{ content: { role: 'model', parts: [{ text: 'a' }, { functionCall: { args: { x: 'b' } } }] } }] },
    [
      'assistant a candidates[0].content.parts[0].text',
      'assistant b candidates[0].content.parts[1].functionCall.args.x',
    ],
  ],
}

describe('the texts', () => {
  it.each(Object.entries(REQUESTS))('of a request in the format %s', (name, [body, expected]) => {
    const found = spans(Conversation.ofRequest(body, textsOf(nameOf(name))))
    expect(found.toSorted()).toEqual(expected.toSorted())
  })

  it.each(Object.entries(ANSWERS))('of an answer in the format %s', (name, [body, expected]) => {
    expect(spans(Conversation.ofAnswer(body, textsOf(nameOf(name))))).toEqual(expected)
  })

  it('are listed for each chat format', () => {
    // Realtime has only events: realtime-answers.test.ts.
    const listed = Object.entries(FORMAT_TEXTS).flatMap(([name, texts]) => (texts && name !== 'Realtime' ? [name] : []))
    expect(Object.keys(REQUESTS).toSorted()).toEqual(listed.toSorted())
    expect(Object.keys(ANSWERS).toSorted()).toEqual(listed.toSorted())
  })

  it('are the text of a request for input that is a string', () => {
    expect(spans(Conversation.ofRequest({ input: 'a' }, textsOf('Responses')))).toEqual(['user a input'])
    expect(spans(Conversation.ofRequest({ system: 'a', messages: 7 }, textsOf('Messages')))).toEqual([
      'system a system',
    ])
  })
})

describe('members in another case', () => {
  it('are found, as some readers of JSON take them for the same', () => {
    const body = { Messages: [{ role: 'user', content: 'a', CONTENT: 'b' }], meſſages: [{ Content: [{ Text: 'c' }] }] }
    expect(spans(Conversation.ofRequest(body, textsOf('Completions')))).toEqual([
      'user a Messages[0].content',
      'user b Messages[0].CONTENT',
      'user c meſſages[0].Content[0].Text',
    ])
    expect(spans(Conversation.ofAnswer({ Choices: [{ Message: { content: 'a' } }] }, textsOf('Completions')))).toEqual([
      'assistant a Choices[0].Message.content',
    ])
  })

  it('are written under their own name', () => {
    const text = '{"messages":[{"content":"1","Content":"2"}]}'
    expect(withMasks(text, 'Completions', 'request')).toBe('{"messages":[{"content":"#","Content":"#"}]}')
  })
})

describe('a body with other texts', () => {
  it('keeps all other bytes', () => {
    const before = `{ "model":"m1", "seed":12345678901234567890, "t" : 1.0,
      "messages":[ {"role":"user" , "content":"call 123","n":1.0},
        {"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"f1","arguments":"{ \\"a\\" : \\"4\\", \\"b\\": 1.50 }"}}]} ] }`
    const after = before.replace('call 123', 'call ###').replace('\\"4\\"', '\\"#\\"').replace('1.50', '\\"#.#\\"')
    expect(withMasks(before, 'Completions', 'request')).toBe(after)
    const plain = before.replaceAll('123"', '"').replace('\\"4\\"', '\\"x\\"').replace('1.50', 'true')
    expect(withMasks(plain.replace('call ', 'call'), 'Completions', 'request')).toBe(plain.replace('call ', 'call'))
  })

  it('has texts in place of numbers of tool arguments', () => {
    expect(withMasks('{"content":[{"type":"tool_use","input":{"n":123456789}}]}', 'Messages', 'answer')).toBe(
      '{"content":[{"type":"tool_use","input":{"n":"#########"}}]}',
    )
  })

  it('has no logprobs, which repeat the texts', () => {
    const text = '{"choices":[{"message":{"content":"T"},"logprobs":{"content":[{"token":"T"}]}}]}'
    expect(withMasks(text, 'Completions', 'answer')).toBe(text)
    expect(withMasks(text.replaceAll('T', '1'), 'Completions', 'answer')).toBe(
      '{"choices":[{"message":{"content":"#"},"logprobs":null}]}',
    )
    const parts = '{"output":[{"content":[{"text":"1","logprobs":[{"token":"1"}]}]}]}'
    expect(withMasks(parts, 'Responses', 'answer')).toBe('{"output":[{"content":[{"text":"#","logprobs":[]}]}]}')
  })

  it('names a repeated member once', () => {
    const text = '{"messages":[{"role":"user","content":"1","content":"2"}]}'
    expect(withMasks(text, 'Completions', 'request')).toBe('{"messages":[{"role":"user","content":"#"}]}')
  })

  it('keeps tool arguments valid where a member is repeated', () => {
    const masked = withMasks('{"output":[{"arguments":"{\\"a\\":1,\\"a\\":2}"}]}', 'Responses', 'answer')
    expect(masked).toBe('{"output":[{"arguments":"{\\"a\\":\\"#\\"}"}]}')
  })

  it('has a member whose name is that of the prototype', () => {
    const text = '{"output":[{"arguments":"{\\"__proto__\\":{\\"a\\":\\"1\\"},\\"b\\":\\"2\\"}"}]}'
    const masked = parseObject(withMasks(text, 'Responses', 'answer'))
    expect(masked).toEqual({ output: [{ arguments: '{"__proto__":{"a":"#"},"b":"#"}' }] })
  })
})

/** The keys of the tables are names of formats. */
function nameOf(name: string): SentFormatName {
  return name as SentFormatName
}
