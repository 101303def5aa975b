import { useEffect, useState } from 'preact/hooks'
import { html } from '../../lib/html.js'

/** Returns the section of a group. @param {string} title */
const findSection = title =>
  /** @type {HTMLElement | null} */ (document.querySelector(`.groups > [aria-label="${CSS.escape(title)}"]`))

/** Returns the last group that begins above the upper third of the window. @param {string[]} titles */
function findCurrent(titles) {
  const isAbove = (/** @type {string} */ title) =>
    (findSection(title)?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY) < innerHeight / 3
  // The last group may be too short to reach the upper third.
  const isAtEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2
  return (isAtEnd ? titles.at(-1) : titles.findLast(isAbove)) ?? titles[0]
}

/**
 * A search and the list of groups, which stay next to the settings. A group scrolls to its settings.
 * @param {{ groups: [title: string, names: string[]][], filter: string, setFilter: (filter: string) => void }} props
 */
export function GroupIndex({ groups, filter, setFilter }) {
  const titles = groups.map(([title]) => title)
  const [current, setCurrent] = useState(titles[0])
  useEffect(() => {
    const update = () => setCurrent(findCurrent(titles))
    update()
    addEventListener('scroll', update, { passive: true })
    return () => removeEventListener('scroll', update)
  }, [titles.join()])
  const show = (/** @type {string} */ title) => {
    const section = findSection(title)
    section?.scrollIntoView({ block: 'start' })
    section?.focus({ preventScroll: true })
  }
  return html`<div class="index">
    <input type="search" aria-label="Find" placeholder="Find a setting" value=${filter} onInput=${(/** @type {any} */ event) => setFilter(event.currentTarget.value)} />
    <div role="navigation" aria-label="Groups of settings"><ul>
      ${groups.map(
        ([title, names]) =>
          html`<li key=${title}><button type="button" class="quiet" aria-current=${title === current ? 'true' : undefined} onClick=${() => show(title)}>${title} <small>${names.length}</small></button></li>`,
      )}
    </ul></div>
  </div>`
}
