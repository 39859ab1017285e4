/**
 * Text of a finite double in the ".NET R" form the service writes: fifteen significant digits, or
 * seventeen when fifteen do not read back as the same number, and always a dot or an exponent, so that a
 * double never looks like an Int32.
 */
export function formatDouble(value: number): string {
  const shortest = String(value)
  const size = Math.abs(value)
  // Fifteen characters hold no more than fifteen digits, and those are the same in both forms.
  if (shortest.length <= 15 && size >= 1e-4 && size < 1e15) {
    return shortest.includes('.') ? shortest : `${shortest}.0`
  }
  const short = value.toPrecision(15)
  const [digits, precision] = Number(short) === value ? [short, 15] : [seventeenDigits(value), 17]
  const { sign, significand, exponent } = scientific(digits)
  if (Object.is(value, -0)) return '-0.0'
  if (exponent > -5 && exponent < precision) return sign + fixed(significand, exponent)
  const [first, rest] = [significand.slice(0, 1), significand.slice(1)]
  const exponentText = Math.abs(exponent).toString().padStart(2, '0')
  return `${sign}${first}${rest === '' ? '' : `.${rest}`}E${exponent < 0 ? '-' : '+'}${exponentText}`
}

/** A tie goes to the even digit, as recorded for 123456789012345.125; toExponential takes the larger. */
function seventeenDigits(value: number): string {
  const text = value.toExponential(16)
  if (!/[13579]e/.test(text) || !/5e/.test(value.toExponential(17))) return text
  const fraction = value.toExponential(100).split(/[.e]/)[1] ?? ''
  if (!/^50*$/.test(fraction.slice(16))) return text
  return text.replace(/.e/, (digit) => `${Number(digit[0]) - 1}e`)
}

/** Takes toPrecision's text apart: digits without a dot or trailing zeros, and the power of the first. */
function scientific(text: string): { sign: string; significand: string; exponent: number } {
  const sign = text.startsWith('-') ? '-' : ''
  const [mantissa = '', power] = text.slice(sign.length).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = whole + fraction
  const leadingZeros = /^0*/.exec(digits)?.[0].length ?? 0
  const significand = digits.slice(leadingZeros).replace(/0+$/, '')
  if (significand === '') return { sign, significand: '0', exponent: 0 }
  return { sign, significand, exponent: Number(power ?? 0) + whole.length - 1 - leadingZeros }
}

function fixed(significand: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${significand}`
  const whole = significand.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${whole}.${significand.slice(exponent + 1) || '0'}`
}

/** At most fifteen characters, so at most fifteen digits, the last of them needed; not below a ten-thousandth. */
const normalDouble = /^-?(?:[1-9]\d*\.\d*[1-9]|0\.0{0,3}[1-9](?:\d*[1-9])?)$/

/** The text formatDouble would write for the finite number that a JSON literal says. */
export function normalDoubleText(literal: string): string {
  return literal.length <= 15 && normalDouble.test(literal) ? literal : formatDouble(Number(literal))
}
