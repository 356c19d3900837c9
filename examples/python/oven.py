"""An oven that has to get to 200 degrees and stay there, and what its controller's settings
cost. The same problem for all examples of this folder: an evaluation takes milliseconds, as
if it took hours.
"""

from cocabo import Choice, Float, Int

SPACE = {
    "controller": Choice(["p", "pi", "pid"]),
    "gain": Float(0.01, 10, log=True),  # part of the power a degree
    "reset": Float(1, 3000, log=True, when="controller != 'p'"),  # seconds
    "lead": Float(0.1, 100, log=True, when="controller == 'pid'"),  # seconds
    "period": Int(1, 30),  # seconds between two decisions
}


def cost(params):
    """The mean error in degrees over fifty minutes, plus what switching wears out."""
    period = params["period"]
    reset, lead = params.get("reset", float("inf")), params.get("lead", 0.0)
    heater, oven, total, power, wear = 20.0, 20.0, 0.0, 0.0, 0.0
    summed, last = 0.0, 180.0
    for second in range(3600):
        error = 200.0 - oven
        total += abs(error) if second >= 600 else 0.0  # it has ten minutes to get hot
        if second % period == 0:
            slope, last = (error - last) / period, error
            wanted = params["gain"] * (error + summed / reset + lead * slope)
            new = min(1.0, max(0.0, wanted))
            if new == wanted:  # at full power the sum would only grow
                summed += error * period
            wear, power = wear + abs(new - power), new
        door = 4.0 if 2000 <= second < 2060 else 0.0  # somebody looks in
        heater += 2.0 * power - 0.02 * (heater - oven)
        oven += 0.004 * (heater - oven) - (0.0005 + 0.0005 * door) * (oven - 20.0)
        if oven > 260.0:
            raise RuntimeError("the cake is burnt")
    return total / 3000 + 0.2 * wear + 3.0 / period
