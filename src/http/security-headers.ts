const formatPolicy = (...allowed: string[]) => ({
  'content-security-policy': [
    "default-src 'none'",
    ...allowed,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
})

/** Security headers of the console and of the documentation. Only files of our own origin are allowed. */
export const pageSecurityHeaders = formatPolicy(
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
)

/** Security headers of the API reference. Scalar adds inline styles and embeds images and fonts, so those are allowed too. */
export const referenceSecurityHeaders = formatPolicy(
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
)
