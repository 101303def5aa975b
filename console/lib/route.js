import { useLayoutEffect, useState } from 'preact/hooks'

// The route follows the `#`, so record numbers reach neither the server nor its log.

/** Returns the parts of the address: `#customer/65432` is `['customer', '65432']`. @returns {string[]} */
const readParts = () => (location.hash.slice(1).split('?')[0] ?? '').split('/').filter(Boolean).map(decodePart)

/** Decodes a part. Returns it unchanged if it isn't URL-encoded. @param {string} part */
function decodePart(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Returns the parts of the address, and renders again if they change. */
export function useRoute() {
  const [parts, setParts] = useState(readParts)
  // A layout effect, so that no change between render and paint is missed.
  useLayoutEffect(() => {
    const update = () => setParts(readParts())
    addEventListener('hashchange', update)
    return () => removeEventListener('hashchange', update)
  }, [])
  return parts
}

/** Returns the parameters after the `?` of the address. */
export const readQuery = () => new URLSearchParams(location.hash.split('?')[1] ?? '')

/** Replaces the parameters in the address, so that Back and a shared link restore the screen. @param {Record<string, string>} query without empty values */
export function replaceQuery(query) {
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString()
  history.replaceState(null, '', `${location.hash.split('?')[0]}${text && `?${text}`}`)
}

/** Returns the link to a route. @param {string[]} parts */
export const linkTo = (...parts) => `#${parts.map(encodeURIComponent).join('/')}`
/** @param {string[]} parts */
export const goTo = (...parts) => {
  location.hash = linkTo(...parts)
}
