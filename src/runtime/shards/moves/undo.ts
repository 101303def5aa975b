import { type MoveDatabases, requireOwnership, undoMove } from '../../../store/moves/finish.ts'
import { type Move, readMoveState } from '../../../store/moves/moves.ts'

/**
 * Undoes a move that has failed, and throws why. Returns where it was switched all the same: what failed came after that, or was a
 * connection that broke while the switch was committed.
 */
export async function undoFailedMove(places: MoveDatabases, move: Move, error: Error, signal: AbortSignal) {
  const { name, target } = move
  const state = await readMoveState(places.control, move).catch(fault => {
    throw addToMessage(
      error,
      `Whether ${name} is where it was or in ${target} cannot be told: ${fault.message} The rest ${describeRemedy(move)}`,
    )
  })
  if (state === 'switched') return
  await requireOwnership(places.control, move).catch(fault => {
    throw addToMessage(error, fault.message)
  })
  await undoMove(places, move, signal).catch(fault => {
    throw addToMessage(
      error,
      `${name} is served where it was; what is left of the attempt goes once ${target} can be worked with: ${fault.message}`,
    )
  })
  throw addToMessage(error, `All is undone: ${name} is served where it was.`)
}

/** An error that says as well how things stand after it. */
export const addToMessage = (cause: Error, words: string) => new Error(`${cause.message} ${words}`, { cause })
export const describeRemedy = ({ name }: Move) => `is done by a worker, or by: tillbridge service move ${name} --undo`
