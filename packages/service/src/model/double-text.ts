/**
 * Text of a finite double in the ".NET R" form the service writes: fifteen significant digits, or
 * seventeen when fifteen do not read back as the same number, and always a dot or an exponent, so that a
 * double never looks like an Int32.
 */
export function formatDouble(value: number): string {
  const short = value.toPrecision(15)
  const precision = Number(short) === value ? 15 : 17
  const { sign, significand, exponent } = precision === 15 ? scientific(short) : seventeenDigits(value)
  if (Object.is(value, -0)) return '-0.0'
  if (exponent > -5 && exponent < precision) return sign + fixed(significand, exponent)
  const [first, rest] = [significand.slice(0, 1), significand.slice(1)]
  const exponentText = Math.abs(exponent).toString().padStart(2, '0')
  return `${sign}${first}${rest === '' ? '' : `.${rest}`}E${exponent < 0 ? '-' : '+'}${exponentText}`
}

/** As toPrecision(17), but a value half-way between two texts takes the even one, as recorded. */
function seventeenDigits(value: number): ReturnType<typeof scientific> {
  const rounded = scientific(value.toPrecision(17))
  if (!scientific(value.toPrecision(18)).significand.endsWith('5')) return rounded
  const exact = scientific(value.toPrecision(100))
  if (exact.significand.length !== 18 || Number(exact.significand[16]) % 2 === 1) return rounded
  return { ...exact, significand: exact.significand.slice(0, 17).replace(/0+$/, '') }
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
