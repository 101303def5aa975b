import { isIPv4 } from 'node:net'
import { findInvisible, findVariant } from './characters.ts'

/** The pattern of `canBeEmail`. Control characters are in neither part. */
export const emailForm =
  '^("[^"\\u0000-\\u001f\\u007f]+"|[^\\s\\u0000-\\u001f\\u007f]+)@[^\\s@\\u0000-\\u001f\\u007f]+$'
const form = new RegExp(emailForm, 'u')

/**
 * True if a stored email address can be this text. A back office has addresses that `isEmail` rejects, so a look-up requires only the `@` and
 * no whitespace outside of quotation marks.
 */
export const canBeEmail = (text: string) => form.test(text)

/**
 * True if the text is an email address as web shops accept it: a subset of RFC 5321 with the letters of RFC 6531 in both parts.
 * In quotation marks, the part before the `@` can have dots anywhere, because NTT docomo issued such addresses until 2009. It can have the
 * same characters as without quotation marks.
 */
export function isEmail(text: string) {
  const [, unquoted, quoted, domain = ''] =
    /^(?:([^\s@"(),:;<>[\\\]]+)|"([^\s@"(),:;<>[\\\]]+)")@([^\s@]+)$/u.exec(text) ?? []
  const local = unquoted ?? quoted ?? ''
  const labels = domain.split('.')
  return (
    local !== '' &&
    Buffer.byteLength(local) <= (quoted === undefined ? 64 : 62) &&
    text.length <= 254 &&
    !findInvisible(text) &&
    !findVariant(text) &&
    !/^\.|\.\.|\.$/.test(unquoted ?? '') &&
    labels.length > 1 &&
    !isIPv4(domain) &&
    labels.every(label => /^[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u.test(label))
  )
}
