// A model that streams: answers every request with the events of a stream, each in a write of its own, in a turn of
// the event loop of its own. Arguments: the port, and the file with the whole stream.
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'

const [port, file = ''] = process.argv.slice(2)
const events = readFileSync(file, 'utf8')
  .split(/(?<=\n\n)/)
  .map((event) => Buffer.from(event))

/** A pause between two events: without it, a busy reader gets several with one read. */
const PAUSE_MS = 1

function sendFrom(index: number, response: ServerResponse): void {
  const event = events[index]
  if (event === undefined) response.end()
  else {
    response.write(event)
    setTimeout(sendFrom, PAUSE_MS, index + 1, response)
  }
}

createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  sendFrom(0, response)
}).listen({ host: '127.0.0.1', port: Number(port), backlog: 4096 })
