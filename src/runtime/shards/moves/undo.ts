import { type Places, requireMine, undo } from '../../../store/moves/finish.ts'
import { type Move, stateOf } from '../../../store/moves/moves.ts'

/**
 * Undoes a move that has failed, and throws why. Returns where it was switched all the same: what failed came after that, or was a
 * connection that broke while the switch was committed.
 */
export async function takeBack(places: Places, move: Move, error: Error, signal: AbortSignal) {
  const { name, target } = move
  const state = await stateOf(places.control, move).catch(fault => {
    throw because(
      error,
      `Whether ${name} is where it was or in ${target} cannot be told: ${fault.message} The rest ${endedBy(move)}`,
    )
  })
  if (state === 'switched') return
  await requireMine(places.control, move).catch(fault => {
    throw because(error, fault.message)
  })
  await undo(places, move, signal).catch(fault => {
    throw because(
      error,
      `${name} is served where it was; what is left of the attempt goes once ${target} can be worked with: ${fault.message}`,
    )
  })
  throw because(error, `All is undone: ${name} is served where it was.`)
}

/** An error that says as well how things stand after it. */
export const because = (cause: Error, words: string) => new Error(`${cause.message} ${words}`, { cause })
export const endedBy = ({ name }: Move) => `is done by a worker, or by: tillbridge service move ${name} --undo`
