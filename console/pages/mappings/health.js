import { useEffect, useState } from 'preact/hooks'
import { listFiles } from 'tillbridge/mappings'
import { Action } from '../../components/action.js'
import { follow, followMs, wait } from '../../components/follow.js'
import { Moment } from '../../components/format.js'
import { ask } from '../../lib/api.js'
import { isAttended } from '../../lib/attended.js'
import { html } from '../../lib/html.js'
import { linkTo } from '../../lib/route.js'

const path = '/mappings/doctor'
/** @param {any[]} kinds */
const isOver = kinds => !kinds.some(({ isJudging }) => isJudging)

/** So often it is looked whether a judgement has begun. */
const lookAgainMs = 5_000

/**
 * How the mappings stand, as long as somebody looks; while they are judged, looked at again and again.
 * @param {number} version asked anew where it changes
 * @param {() => void} judged told when they were judged anew meanwhile
 * @returns {{ kinds?: any[], error?: unknown }}
 */
export function useHealth(version, judged) {
  const [found, setFound] = useState(/** @type {{ kinds?: any[], error?: unknown }} */ ({}))
  useEffect(() => {
    const gone = new AbortController()
    const { signal } = gone
    /** @type {string | undefined} */
    let seen
    const tell = (/** @type {any[]} */ kinds) => {
      if (signal.aborted) return
      setFound({ kinds })
      const now = kinds.map(({ judgedAt }) => judgedAt).join()
      seen ??= now
      if (isOver(kinds) && now !== seen) judged()
    }
    const pause = async (/** @type {any[]} */ kinds) => {
      if (!isOver(kinds)) return wait(followMs)
      do await wait(lookAgainMs)
      while (!isAttended() && !signal.aborted)
    }
    ask(path, { signal })
      .then(({ data }) => follow(data, path, { isOver: () => false, tell, pause, signal }))
      .catch(error => signal.aborted || setFound(before => ({ ...before, error })))
    return () => gone.abort()
  }, [version])
  return found
}

/** What the platform has of each kind. */
const listedNames = { stores: 'locations', skus: 'SKUs', customers: 'customers' }

/** @param {{ kinds: any[], kind: import('tillbridge/mappings').MappedKind, judge: () => Promise<void> }} props */
export function Standing({ kinds, kind, judge }) {
  const { listed, listedAt, judgedAt } = kinds.find(one => one.kind === kind)
  return html`<div class="standing">
    <p class="note">
      ${
        listedAt
          ? html`${listed.toLocaleString('en')} ${listedNames[kind]} on the platform, as of <${Moment} moment=${listedAt} />.`
          : html`What the platform has is not known: <a href=${linkTo('import', listFiles[kind])}>import</a> its export as <code>${listFiles[kind]}</code>.`
      }
      ${' '}${judgedAt ? html`Last judged <${Moment} moment=${judgedAt} />.` : 'Not judged yet.'} <${Action} label="Judge now" role="admin" work=${judge} />
    </p>
    ${!isOver(kinds) && html`<${Judging} kinds=${kinds} />`}
  </div>`
}

/** @param {{ kinds: any[] }} props */
function Judging({ kinds }) {
  const sum = (/** @type {'done' | 'of'} */ what) =>
    kinds.reduce((all, { progress }) => all + (progress?.[what] ?? 0), 0)
  const [done, of] = [sum('done'), sum('of')]
  const far = of > 0 && `${done.toLocaleString('en')} of ${of.toLocaleString('en')} records`
  return html`<p><span role="status">${of ? 'Being judged.' : 'It is judged as soon as a worker has time.'}</span> ${far}</p>
    <progress aria-label="How far it has come" max=${Math.max(of, 1)} value=${of ? done : undefined}></progress>`
}
