// Numbers of connections: those of every protocol are numbered together, in each worker.
let connectionIds = 0

export function nextConnectionId(): number {
  return ++connectionIds
}

/** Connections of this worker so far: whether somebody came between two looks, and went again. */
export function connectionsMade(): number {
  return connectionIds
}
