/** Characters of a response that are printed. */
const maxCharacters = 200

/** Returns why a delivery failed, with the beginning of the endpoint's response on the same line. An endpoint can't control the terminal. */
export function formatDeliveryFailure(error: string, response: string) {
  const excerpt = response
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, maxCharacters)
  return excerpt ? `${error} Its response: ${excerpt}` : error
}
