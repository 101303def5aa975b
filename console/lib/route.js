import { useLayoutEffect, useState } from 'preact/hooks'

// What is looked at stands behind the `#`: it reaches neither the server nor its log.

/** The parts of the address: `#customer/65432` is `['customer', '65432']`. @returns {string[]} */
const readParts = () => location.hash.slice(1).split('/').filter(Boolean).map(decodePart)

/** A part as it was typed, where it is no part of ours. @param {string} part */
function decodePart(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The parts of the address, as they change. */
export function useRoute() {
  const [parts, setParts] = useState(readParts)
  // Before anything is painted: an address that changes between the two is not missed.
  useLayoutEffect(() => {
    const change = () => setParts(readParts())
    addEventListener('hashchange', change)
    return () => removeEventListener('hashchange', change)
  }, [])
  return parts
}

/** The address of a place. @param {string[]} parts */
export const linkTo = (...parts) => `#${parts.map(encodeURIComponent).join('/')}`
/** @param {string[]} parts */
export const goTo = (...parts) => {
  location.hash = linkTo(...parts)
}
